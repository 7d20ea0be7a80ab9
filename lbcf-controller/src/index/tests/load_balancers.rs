use super::*;

#[test]
fn b118_u35_a_load_balancers_status_enqueues_its_groups_if_it_matters_to_them() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(group("web", &[("app", "web")], 1)),
    );
    let lb = |version: u64| {
        placed(
            LoadBalancer::new("lb", LoadBalancerSpec::default()),
            version,
        )
    };
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(lb(2)));
    assert_eq!(
        keys(requests),
        ["BackendGroup ns/web", "LoadBalancer ns/lb"]
    );
    // Groups quote why it is not created (d128), once.
    for (version, expected) in [(3, vec!["BackendGroup ns/web"]), (4, vec![])] {
        let mut creating = lb(version);
        creating.status.get_or_insert_default().conditions = vec![Condition::unmet(
            condition_types::CREATED,
            crate::api::reasons::CREATING,
            "",
            None,
        )];
        let requests = Indexed::apply(&mut index, StoreEvent::Written(creating));
        assert_eq!(keys(requests), expected);
    }
    let mut created = lb(5);
    created.status.get_or_insert_default().conditions =
        vec![Condition::met(condition_types::CREATED, None)];
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Written(created))),
        ["BackendGroup ns/web"]
    );
}

#[test]
fn u17_a_shared_load_balancer_enqueues_groups_in_every_namespace() {
    let mut index = Index::default();
    let mut shared = group("web", &[("app", "web")], 1);
    shared.spec.load_balancers = vec!["lbcf-shared".into()];
    Indexed::apply(&mut index, StoreEvent::Apply(shared));
    let mut lb = placed(
        LoadBalancer::new("lbcf-shared", LoadBalancerSpec::default()),
        2,
    );
    lb.metadata.namespace = Some("kube-system".into());
    let requests = keys(Indexed::apply(&mut index, StoreEvent::Apply(lb)));
    assert!(
        requests.contains(&"BackendGroup ns/web".to_owned()),
        "{requests:?}"
    );
}

#[test]
fn d116_the_event_of_the_controllers_own_finalizer_enqueues_nothing_and_its_loss_does() {
    let mut index = Index::default();
    let lb = |version, finalizers: &[&str]| {
        let mut lb = placed(LoadBalancer::new("lb", Default::default()), version);
        lb.metadata.finalizers = Some(finalizers.iter().map(|&it| it.to_owned()).collect());
        lb
    };
    let own = crate::api::names::FINALIZER_LOAD_BALANCER;
    let mut applied = |lb| keys(Indexed::apply(&mut index, StoreEvent::Apply(lb)));
    assert_eq!(applied(lb(1, &[])), ["LoadBalancer ns/lb"]);
    // Before the response to the write, while a worker calls the driver.
    assert_eq!(applied(lb(2, &[own])), Vec::<String>::new());
    assert_eq!(applied(lb(3, &[own, "of.others"])), Vec::<String>::new());
    assert_eq!(applied(lb(4, &["of.others"])), ["LoadBalancer ns/lb"]);
}
