use super::services::{node, service};
use super::*;
use crate::api::ServiceMode;

fn bind(version: u64, change: impl FnOnce(&mut Bind)) -> Bind {
    let mut bind = placed(Bind::new("bind", BindSpec::default()), version);
    bind.metadata.finalizers = Some(vec![crate::api::names::FINALIZER_LOAD_BALANCER.into()]);
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
fn u5_a_load_balancer_of_a_bind_has_the_driver_of_its_status_or_else_of_its_spec() {
    let mut index = Index::default();
    let bind = bind(1, |bind| {
        bind.spec.load_balancers[0].driver = "another".into();
        bind.spec.load_balancers[1].driver = "changed".into();
        entries(bind).remove(0);
    });
    Indexed::apply(&mut index, StoreEvent::Apply(bind));
    for (name, driver) in [("a", Some("another")), ("b", Some("driver")), ("c", None)] {
        let bind = ObjectKey::new("ns", "bind");
        let key = RequestKey::BindLoadBalancer(BindLoadBalancerKey {
            bind,
            name: name.into(),
        });
        let target = index.target_of(&key).map(|(key, _)| key.name.to_string());
        assert_eq!(target.as_deref(), driver, "{name}");
    }
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

/// A Bind of the nodes, or the endpoints, of a Service.
fn of_service(version: u64, mode: ServiceMode, node_selector: &[(&str, &str)]) -> Bind {
    let labels = node_selector.iter();
    let labels = labels.map(|&(label, value)| (label.into(), value.into()));
    bind(version, |bind| {
        bind.spec.service = Some(ServiceSelection {
            name: "svc".into(),
            mode: Some(mode),
            node_selector: labels.collect(),
            ..ServiceSelection::default()
        });
    })
}

fn of_bind() -> Owner {
    Owner::Bind(key("bind"))
}

/// The units of the Bind that are to be reconciled.
fn units(index: &mut Index) -> Vec<String> {
    let units = index.take_units(&of_bind(), 100);
    units.iter().map(ToString::to_string).collect()
}

#[test]
fn d77_a_service_and_its_nodes_enqueue_a_bind() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(of_service(2, ServiceMode::NodePort, &[("pool", "a")])),
    );
    assert_eq!(units(&mut index), ["n0"]);
    let of_bind = || [Request::high(RequestKey::Bind(key("bind")))];
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(service(3)));
    assert_eq!(requests, of_bind(), "it was absent and appears");
    assert_eq!(units(&mut index), ["n0"]);
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(node("n1", "b", 4))).is_empty());
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n1", "a", 5))).len(),
        1
    );
    assert_eq!(units(&mut index), ["n1"]);
    // A Bind that left the Service is not enqueued by it any more, nor by its nodes.
    Indexed::apply(&mut index, StoreEvent::Apply(bind(6, |_| {})));
    units(&mut index);
    assert!(Indexed::apply(&mut index, StoreEvent::Delete(service(7))).is_empty());
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(node("n1", "b", 8))).is_empty());
}

#[test]
fn d77_the_endpoints_of_a_service_are_a_binds_units() {
    let mut index = Index::default();
    let slice = super::endpoints::slice;
    let slice = |addresses: &[&str], version| slice("a", addresses, version);
    Indexed::apply(&mut index, StoreEvent::Apply(service(1)));
    Indexed::apply(&mut index, StoreEvent::Apply(slice(&["10.0.0.1"], 2)));
    let on_endpoints = of_service(3, ServiceMode::Endpoints, &[]);
    Indexed::apply(&mut index, StoreEvent::Apply(on_endpoints));
    assert_eq!(units(&mut index), ["10.0.0.1"]);
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Apply(slice(&["10.0.0.1", "10.0.0.2"], 4)),
    );
    assert_eq!(requests, [Request::normal(RequestKey::Bind(key("bind")))]);
    assert_eq!(units(&mut index), ["10.0.0.2"]);
    assert!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 5))).is_empty(),
        "nodes do not matter"
    );
    // What it counted of its endpoints does not stay when it selects pods.
    let tally = UnitTally {
        endpoints: 1,
        unready: 1,
    };
    index
        .unit_tallies
        .set(&of_bind(), &"10.0.0.2".into(), tally);
    Indexed::apply(&mut index, StoreEvent::Apply(bind(6, |_| {})));
    assert_eq!(units(&mut index), [""; 0]);
    assert_eq!(index.unit_tallies.of(&of_bind()), EndpointCounts::default());
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(slice(&[], 7))).is_empty());
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
