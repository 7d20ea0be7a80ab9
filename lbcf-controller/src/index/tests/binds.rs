use super::*;

fn bind(version: u64, change: impl FnOnce(&mut Bind)) -> Bind {
    let mut bind = placed(Bind::new("bind", BindSpec::default()), version);
    bind.metadata.finalizers = Some(vec![crate::names::FINALIZER_LOAD_BALANCER.into()]);
    bind.spec.load_balancers = ["a", "b"]
        .map(|name| TargetLoadBalancer {
            name: name.into(),
            driver: "driver".into(),
            ..TargetLoadBalancer::default()
        })
        .to_vec();
    let entries = ["a", "b"].map(|name| TargetLoadBalancerStatus {
        name: name.into(),
        driver: "driver".into(),
        ..TargetLoadBalancerStatus::default()
    });
    bind.status.get_or_insert_default().load_balancer_statuses = entries.to_vec();
    change(&mut bind);
    bind
}

fn entries(bind: &mut Bind) -> &mut Vec<TargetLoadBalancerStatus> {
    &mut bind.status.get_or_insert_default().load_balancer_statuses
}

#[test]
fn u5_each_load_balancer_of_a_bind_is_enqueued_on_its_own() {
    let mut index = Index::default();
    let requests = keys(Indexed::apply(
        &mut index,
        StoreEvent::Apply(bind(1, |_| {})),
    ));
    assert_eq!(
        requests,
        ["Bind ns/bind", "Bind ns/bind (a)", "Bind ns/bind (b)"]
    );
    let driver = placed(LoadBalancerDriver::new("driver", Default::default()), 2);
    let requests = keys(Indexed::apply(&mut index, StoreEvent::Apply(driver)));
    assert!(
        requests.contains(&"Bind ns/bind (a)".to_owned()),
        "{requests:?}"
    );
    let mut index = Index::default();
    let unprotected = bind(1, |bind| bind.metadata.finalizers = None);
    let requests = keys(Indexed::apply(&mut index, StoreEvent::Apply(unprotected)));
    assert_eq!(
        requests,
        ["Bind ns/bind"],
        "nothing is created without the finalizer"
    );
}

#[test]
fn a_bind_load_balancers_own_status_does_not_enqueue_it() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(bind(1, |_| {})));
    let failed = bind(2, |bind| {
        entries(bind)[0].retry_after = Some("2026-01-01T00:00:00Z".into());
    });
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Written(failed))),
        Vec::<String>::new()
    );
    let created = bind(3, |bind| {
        entries(bind)[0].conditions = vec![Condition::met(condition_types::CREATED, Some(1))];
    });
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Written(created))),
        ["Bind ns/bind"]
    );
    let removed = bind(4, |bind| drop(entries(bind).remove(0)));
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Written(removed))),
        ["Bind ns/bind", "Bind ns/bind (a)"],
        "it may be declared again"
    );
}

#[test]
fn a_binds_records_are_not_those_of_a_load_balancer_of_that_name() {
    let mut index = Index::default();
    let mut of_bind = record("r", 1);
    let owners = of_bind.metadata.owner_references.as_mut().unwrap();
    owners[0].kind = "Bind".into();
    Indexed::apply(&mut index, StoreEvent::Apply(of_bind));
    let lb = RequestKey::LoadBalancer(key("lb"));
    assert_eq!(index.records.count_of_load_balancer(&lb), 0);
    let lb = RequestKey::BindLoadBalancer(BindLoadBalancerKey {
        bind: key("web"),
        name: "lb".into(),
    });
    assert_eq!(index.records.count_of_load_balancer(&lb), 1);
}
