use super::*;

#[test]
fn u40_a_pods_labels_lead_to_its_groups_whichever_came_first() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p0", &[("app", "web"), ("tier", "a")], 1)),
    );
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 2)),
    );
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("other", &[("app", "other")], 3)),
    );
    assert_eq!(selected(&mut index, "web"), ["p0"]);
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p1", &[("app", "web")], 4)),
    );
    assert_eq!(keys(requests), ["BackendGroup ns/web"]);
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p1", &[("app", "other")], 5)),
    );
    assert_eq!(
        keys(requests),
        ["BackendGroup ns/other", "BackendGroup ns/web"],
        "the old and the new one"
    );
    assert_eq!(selected(&mut index, "web"), ["p0"]);
    assert_eq!(selected(&mut index, "other"), ["p1"]);
}

#[test]
fn b25_excepted_pods_and_pods_of_empty_selectors_are_not_selected() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 1)),
    );
    Indexed::apply(&mut index, StoreEvent::Apply(group("all", &[], 2)));
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("excepted", &[("app", "web")], 3)),
    );
    assert_eq!(keys(requests), Vec::<String>::new());
}

#[test]
fn a_changed_selection_selects_other_pods() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p0", &[("app", "web")], 1)),
    );
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 2)),
    );
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "none")], 3)),
    );
    assert!(selected(&mut index, "web").is_empty());
    let mut by_name = group("web", &[], 4);
    by_name.spec.pods = Some(PodSelection {
        by_name: vec!["p0".into(), "p1".into()],
        ..Default::default()
    });
    Indexed::apply(&mut index, StoreEvent::Apply(by_name));
    assert_eq!(selected(&mut index, "web"), ["p0"]);
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(pod("p1", &[], 5)));
    assert_eq!(keys(requests), ["BackendGroup ns/web"]);
}

#[test]
fn u40_a_pods_change_marks_only_that_pod() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 1)),
    );
    for number in 0..5 {
        let name = format!("p{number}");
        Indexed::apply(
            &mut index,
            StoreEvent::Apply(pod(&name, &[("app", "web")], 2 + number)),
        );
    }
    assert_eq!(pending(&mut index).len(), 5);
    let mut not_ready = pod("p3", &[("app", "web")], 9);
    not_ready.ready = false;
    Indexed::apply(&mut index, StoreEvent::Apply(not_ready));
    assert_eq!(pending(&mut index), ["p3"]);
    // All units of a changed group are marked, with those of its records.
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 10)));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "none")], 11)),
    );
    assert_eq!(pending(&mut index), ["p0"]);
}

#[test]
fn b110_d42_unready_pods_are_neither_available_nor_being_deleted() {
    let mut index = Index::default();
    let owner = of_group("web");
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 1)),
    );
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 2)));
    for name in ["p0", "no-records"] {
        let mut not_ready = pod(name, &[("app", "web")], 3);
        not_ready.ready = false;
        Indexed::apply(&mut index, StoreEvent::Apply(not_ready));
    }
    let unready = |index: &Index| {
        let pods = index.unready_pods_of(&owner);
        pods.map(|pods| {
            pods.iter()
                .map(|it| it.key.name.to_string())
                .collect::<Vec<_>>()
        })
    };
    let expected = [vec!["p0".to_owned()], vec!["no-records".to_owned()]];
    assert_eq!(unready(&index), expected);
    assert_eq!(index.selections.count(&owner), 2);
    let mut deleting = pod("p0", &[("app", "web")], 4);
    deleting.deleting = true;
    Indexed::apply(&mut index, StoreEvent::Apply(deleting));
    assert_eq!(unready(&index), [vec![], vec!["no-records".to_owned()]]);
    assert_eq!(index.selections.count(&owner), 1);
}

#[test]
fn u31_b116_b117_only_relevant_changes_are_enqueued_and_deregistering_comes_first() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 1)),
    );
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p0", &[("app", "web")], 2)),
    );
    assert!(
        Indexed::apply(
            &mut index,
            StoreEvent::Apply(pod("p0", &[("app", "web")], 3))
        )
        .is_empty()
    );
    let mut not_running = pod("p0", &[("app", "web")], 4);
    not_running.running = false;
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Apply(not_running)).len(),
        1
    );
    let mut not_ready = pod("p0", &[("app", "web")], 5);
    not_ready.ready = false;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(not_ready.clone()));
    assert_eq!(requests[0].priority, Priority::High);
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Delete(PodView {
            version: 6,
            ..not_ready
        }),
    );
    assert_eq!(keys(requests), ["BackendGroup ns/web"]);
    assert!(selected(&mut index, "web").is_empty());
}
