//! Few writes, and endpoints that stay in their slices.

use super::*;
use crate::object::object;

fn service() -> Object {
    object(
        json!({"metadata": {"name": "web", "namespace": "d", "uid": "s"},
        "spec": {"clusterIP": "10.96.0.9"}}),
    )
}

fn endpoint(number: usize) -> Value {
    json!({"addresses": [format!("10.0.0.{number}")], "targetRef": {"uid": format!("u{number:04}")}})
}

fn group(port: u16, numbers: impl IntoIterator<Item = usize>) -> EndpointGroup {
    EndpointGroup {
        ports: vec![json!({"name": "", "port": port, "protocol": "TCP"})],
        endpoints: numbers.into_iter().map(endpoint).collect(),
    }
}

fn four(groups: Vec<EndpointGroup>) -> Vec<(&'static str, Vec<EndpointGroup>)> {
    vec![("IPv4", groups)]
}

/// What the store holds after a plan was carried out.
fn after(existing: &[Arc<Stored>], plan: SlicePlan) -> Vec<Arc<Stored>> {
    let mut all: BTreeMap<String, Arc<Stored>> = existing
        .iter()
        .map(|slice| (slice.name.clone(), Arc::clone(slice)))
        .collect();
    for name in &plan.delete {
        all.remove(name);
    }
    for (name, next) in plan.update {
        all.insert(name, Arc::new(Stored::new(next, 2)));
    }
    for (index, mut new) in plan.create.into_iter().enumerate() {
        let name = format!("new-{}-{index}", all.len());
        child(&mut new, "metadata").insert("name".to_owned(), name.clone().into());
        all.insert(name, Arc::new(Stored::new(new, 1)));
    }
    all.into_values().collect()
}

fn plan(
    service: &Object,
    families: &[(&str, Vec<EndpointGroup>)],
    existing: &[Arc<Stored>],
) -> SlicePlan {
    super::plan(service, families, existing, Scope::All)
}

fn writes(plan: &SlicePlan) -> [usize; 3] {
    [plan.create.len(), plan.update.len(), plan.delete.len()]
}

#[test]
fn a_new_slice_names_its_service() {
    let plan = plan(&service(), &four(vec![group(80, [1])]), &[]);
    let slice = &plan.create[0];
    assert_eq!(slice["metadata"]["generateName"], "web-");
    assert_eq!(slice["metadata"]["ownerReferences"][0]["uid"], "s");
    assert_eq!(slice["addressType"], "IPv4");
    assert_eq!(slice["endpoints"][0], endpoint(1));
    assert_eq!(writes(&plan), [1, 0, 0]);
}

#[test]
fn a_hundred_endpoints_fill_a_slice() {
    let wanted = four(vec![group(80, 0..250)]);
    let made = after(&[], plan(&service(), &wanted, &[]));
    let sizes = |slices: &[Arc<Stored>]| {
        let mut sizes: Vec<usize> = slices
            .iter()
            .map(|s| list(&s.object, &["endpoints"]).len())
            .collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes(&made), [50, 100, 100]);
    assert_eq!(writes(&plan(&service(), &wanted, &made)), [0, 0, 0]);
    // One more fills the slice that has space, and nothing else is written.
    let more = four(vec![group(80, 0..251)]);
    let next = plan(&service(), &more, &made);
    assert_eq!(writes(&next), [0, 1, 0]);
    assert_eq!(sizes(&after(&made, next)), [51, 100, 100]);
    // A new endpoint joins a slice that changes, though another slice has more space.
    let mut moved = group(80, (0..251).filter(|n| *n != 7));
    moved.endpoints.push(endpoint(900));
    let next = plan(
        &service(),
        &four(vec![moved]),
        &after(&made, plan(&service(), &more, &made)),
    );
    assert_eq!(writes(&next), [0, 1, 0]);
}

#[test]
fn a_changed_endpoint_stays_in_its_slice() {
    let made = after(&[], plan(&service(), &four(vec![group(80, 1..4)]), &[]));
    let mut wanted = group(80, 1..4);
    wanted.endpoints[0]["conditions"] = json!({"ready": false});
    wanted.endpoints.reverse();
    let next = plan(&service(), &four(vec![wanted]), &made);
    assert_eq!(writes(&next), [0, 1, 0]);
    let slice = &next.update[0].1;
    assert_eq!(slice["endpoints"][0]["conditions"]["ready"], false);
    assert_eq!(slice["endpoints"][2], endpoint(3));
}

#[test]
fn a_service_without_endpoints_keeps_one_slice() {
    let empty = plan(&service(), &four(vec![]), &[]);
    assert_eq!(writes(&empty), [1, 0, 0]);
    assert_eq!(empty.create[0]["endpoints"], Value::Null);
    assert_eq!(empty.create[0]["ports"], Value::Null);
    let made = after(&[], empty);
    assert_eq!(writes(&plan(&service(), &four(vec![]), &made)), [0, 0, 0]);
    // The empty slice is reused for the first endpoint, and the other way round, by one write.
    let full = plan(&service(), &four(vec![group(80, [1])]), &made);
    assert_eq!(writes(&full), [0, 1, 0]);
    let made = after(&made, full);
    assert_eq!(writes(&plan(&service(), &four(vec![]), &made)), [0, 1, 0]);
}

#[test]
fn a_slice_is_reused_when_ports_change() {
    let made = after(&[], plan(&service(), &four(vec![group(80, 1..4)]), &[]));
    let next = plan(&service(), &four(vec![group(81, 1..4)]), &made);
    assert_eq!(writes(&next), [0, 1, 0]);
    assert_eq!(next.update[0].1["ports"][0]["port"], 81);
    let both = plan(
        &service(),
        &four(vec![group(80, 1..4), group(81, 5..6)]),
        &made,
    );
    assert_eq!(writes(&both), [1, 0, 0]);
    let made = after(&made, both);
    let one = plan(&service(), &four(vec![group(81, 5..6)]), &made);
    assert_eq!(writes(&one), [0, 0, 1]);
}

#[test]
fn slices_follow_the_labels_of_the_service() {
    let made = after(&[], plan(&service(), &four(vec![group(80, [1])]), &[]));
    let mut labelled = service();
    child(&mut labelled, "metadata").insert("labels".to_owned(), json!({"a": "b"}));
    let next = plan(&labelled, &four(vec![group(80, [1])]), &made);
    assert_eq!(writes(&next), [0, 1, 0]);
    assert_eq!(next.update[0].1["metadata"]["labels"]["a"], "b");
}

#[test]
fn slices_of_another_address_family_are_deleted() {
    let six = |groups| vec![("IPv6", groups)];
    let made = after(&[], plan(&service(), &four(vec![group(80, [1])]), &[]));
    let next = plan(&service(), &six(vec![]), &made);
    assert_eq!(writes(&next), [1, 0, 1]);
}

#[test]
fn planning_the_pods_that_changed_is_planning_all() {
    let mut random = fastrand::Rng::with_seed(16);
    let (mut ports_of, mut state) = (BTreeMap::new(), Vec::new());
    for _ in 0..300 {
        let mut changed = BTreeSet::new();
        for _ in 0..random.usize(1..20) {
            let number = random.usize(0..400);
            changed.insert(format!("u{number:04}"));
            match random.u8(0..4) {
                0 => _ = ports_of.remove(&number),
                1 => _ = ports_of.insert(number, (81, random.bool())),
                _ => _ = ports_of.insert(number, (80, random.bool())),
            }
        }
        let wanted = |is_wanted: &dyn Fn(&str) -> bool| {
            let mut groups: Vec<EndpointGroup> = Vec::new();
            for (number, (port, ready)) in &ports_of {
                let mut endpoint = endpoint(*number);
                if !is_wanted(&identity(&endpoint)) {
                    continue;
                }
                endpoint["conditions"] = json!({"ready": ready});
                let new = group(*port, []);
                match groups.iter_mut().find(|group| group.ports == new.ports) {
                    Some(group) => group.endpoints.push(endpoint),
                    None => groups.push(EndpointGroup {
                        endpoints: vec![endpoint],
                        ..new
                    }),
                }
            }
            four(groups)
        };
        let part = wanted(&|uid| changed.contains(uid));
        let next = super::plan(&service(), &part, &state, Scope::Pods(&changed));
        state = after(&state, next);
        // Nothing is left to do for all of them, and no endpoint is lost or there twice.
        let all = wanted(&|_| true);
        assert_eq!(writes(&plan(&service(), &all, &state)), [0, 0, 0]);
        let endpoints = state
            .iter()
            .map(|it| list(&it.object, &["endpoints"]).len());
        assert_eq!(endpoints.sum::<usize>(), ports_of.len());
    }
}
