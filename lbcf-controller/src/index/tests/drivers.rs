use super::*;

#[test]
fn a_new_driver_enqueues_what_waited_for_it() {
    let mut index = Index::default();
    let mut lb = placed(LoadBalancer::new("lb", LoadBalancerSpec::default()), 1);
    lb.spec.lb_driver = "driver".into();
    Indexed::apply(&mut index, StoreEvent::Apply(lb));
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 2)));
    let driver = placed(LoadBalancerDriver::new("driver", Default::default()), 3);
    let requests = keys(Indexed::apply(
        &mut index,
        StoreEvent::Apply(driver.clone()),
    ));
    assert_eq!(
        requests,
        [
            "BackendRecord ns/r",
            "LoadBalancer ns/lb",
            "LoadBalancerDriver ns/driver",
            "LoadBalancerDriver ns/driver (health)"
        ]
    );
    let mut labelled = driver;
    labelled.metadata.labels = Some(BTreeMap::new());
    labelled.metadata.resource_version = Some("4".into());
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Apply(labelled))),
        ["LoadBalancerDriver ns/driver"]
    );
}

fn lb_of(driver: &str, version: u64) -> LoadBalancer {
    let mut lb = placed(
        LoadBalancer::new("lb", LoadBalancerSpec::default()),
        version,
    );
    lb.spec.lb_driver = driver.into();
    lb
}

#[test]
fn d32_the_first_user_and_the_removal_of_the_last_one_enqueue_the_driver() {
    let mut index = Index::default();
    for name in ["one", "two"] {
        let driver = placed(LoadBalancerDriver::new(name, Default::default()), 1);
        Indexed::apply(&mut index, StoreEvent::Apply(driver));
    }
    let driver_keys = |requests: Vec<Request>| {
        let mut keys = keys(requests);
        keys.retain(|key| key.starts_with("LoadBalancerDriver"));
        keys
    };
    let [one, two] = ["one", "two"].map(|name| format!("LoadBalancerDriver ns/{name}"));
    let created = Indexed::apply(&mut index, StoreEvent::Apply(lb_of("one", 2)));
    assert_eq!(driver_keys(created), std::slice::from_ref(&one));
    let mut of_lb = record("r", 3);
    of_lb.spec.lb_driver = "one".into();
    let registered = Indexed::apply(&mut index, StoreEvent::Apply(of_lb.clone()));
    assert_eq!(driver_keys(registered), [""; 0]);
    let users = [
        RequestKey::LoadBalancer(key("lb")),
        RequestKey::Record(key("r")),
    ];
    assert_eq!(
        index.use_of_driver(&key("one")),
        DriverUse::Used(users.to_vec())
    );
    let moved = Indexed::apply(&mut index, StoreEvent::Apply(lb_of("two", 4)));
    assert_eq!(driver_keys(moved), [two]);
    let deregistered = Indexed::apply(&mut index, StoreEvent::Delete(of_lb));
    assert_eq!(driver_keys(deregistered), [one]);
    assert_eq!(index.use_of_driver(&key("one")), DriverUse::Unused);
    // A driver that does not exist needs no finalizer.
    let elsewhere = Indexed::apply(&mut index, StoreEvent::Apply(lb_of("none", 5)));
    assert!(!keys(elsewhere).contains(&"LoadBalancerDriver ns/none".to_owned()));
}

#[test]
fn d32_u9_what_cannot_be_parsed_might_use_a_driver_of_its_namespace_or_of_the_system() {
    let mut index = Index::default();
    Indexed::apply(
        &mut index,
        StoreEvent::<BackendRecord>::Unreadable(key("odd")),
    );
    for (namespace, expected) in [
        ("ns", DriverUse::Unknown),
        ("kube-system", DriverUse::Unknown),
        ("other", DriverUse::Unused),
    ] {
        let driver = ObjectKey::new(namespace, "driver");
        assert_eq!(index.use_of_driver(&driver), expected, "{namespace}");
    }
}
