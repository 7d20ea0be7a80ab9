use super::*;
use crate::api::{LoadBalancerDriverSpec, ServiceClass};
use crate::index::tests::services::service;

const CLASS: &str = "example.com/lb";

fn driver(namespace: &str, name: &str, class: Option<&str>, version: u64) -> LoadBalancerDriver {
    let spec = LoadBalancerDriverSpec {
        service_class: class.map(|class| ServiceClass {
            name: class.into(),
            ..ServiceClass::default()
        }),
        ..LoadBalancerDriverSpec::default()
    };
    let mut driver = placed(LoadBalancerDriver::new(name, spec), version);
    driver.metadata.namespace = Some(namespace.into());
    driver
}

fn balanced(class: &str, version: u64) -> ServiceView {
    ServiceView {
        load_balancer: Some(Box::new(ServiceLoadBalancer {
            uid: "uid".into(),
            class: Some(class.into()),
            is_load_balancer: true,
            ..ServiceLoadBalancer::default()
        })),
        ..service(version)
    }
}

fn owned_lb(uid: &str, version: u64) -> LoadBalancer {
    let mut lb = placed(
        LoadBalancer::new("lb", LoadBalancerSpec::default()),
        version,
    );
    lb.metadata.owner_references = Some(vec![OwnerReference {
        api_version: "v1".into(),
        kind: "Service".into(),
        name: "svc".into(),
        uid: uid.into(),
        controller: Some(true),
        ..OwnerReference::default()
    }]);
    lb
}

fn requests<K: Indexed>(index: &mut Index, event: StoreEvent<K>) -> Vec<String> {
    let requests = keys(Indexed::apply(index, event)).into_iter();
    requests.filter(|key| !key.ends_with("(health)")).collect()
}

#[test]
fn d72_a_class_leads_from_drivers_to_services_and_to_other_drivers() {
    let mut index = Index::default();
    let event = StoreEvent::Apply(balanced(CLASS, 1));
    assert_eq!(requests(&mut index, event), ["Service ns/svc"]);
    let event = StoreEvent::Apply(driver("kube-system", "lbcf-a", Some(CLASS), 2));
    assert_eq!(
        requests(&mut index, event),
        ["LoadBalancerDriver kube-system/lbcf-a", "Service ns/svc"]
    );
    let event = StoreEvent::Apply(driver("ns", "b", Some(CLASS), 3));
    let both = [
        "LoadBalancerDriver kube-system/lbcf-a",
        "LoadBalancerDriver ns/b",
        "Service ns/svc",
    ];
    assert_eq!(requests(&mut index, event), both);
    let count = |index: &Index, namespace| index.drivers_of_class(CLASS, namespace).len();
    assert_eq!(
        (count(&index, "ns"), count(&index, "other")),
        (2, 1),
        "a driver of a namespace serves only that"
    );
    let event = StoreEvent::Apply(driver("ns", "b", None, 4));
    assert_eq!(requests(&mut index, event), both);
    assert_eq!(count(&index, "ns"), 1);
    let event = StoreEvent::Apply(driver("ns", "b", Some("example.com/other"), 5));
    assert_eq!(requests(&mut index, event), ["LoadBalancerDriver ns/b"]);
}

#[test]
fn d73_services_without_a_class_cause_no_request() {
    let mut index = Index::default();
    assert!(requests(&mut index, StoreEvent::Apply(service(1))).is_empty());
    let event = StoreEvent::Apply(balanced(CLASS, 2));
    assert_eq!(requests(&mut index, event), ["Service ns/svc"]);
    let event = StoreEvent::Apply(balanced(CLASS, 3));
    assert!(requests(&mut index, event).is_empty(), "nothing changed");
    assert_eq!(
        requests(&mut index, StoreEvent::Apply(service(4))),
        ["Service ns/svc"],
        "it had one"
    );
}

#[test]
fn d72_what_a_service_owns_is_found_by_its_uid() {
    let mut index = Index::default();
    let event = StoreEvent::Apply(owned_lb("uid", 1));
    assert_eq!(
        requests(&mut index, event),
        ["LoadBalancer ns/lb", "Service ns/svc"]
    );
    let owned = |index: &Index, uid| index.owned_by_service(&key("svc"), uid).0.len();
    assert_eq!((owned(&index, "uid"), owned(&index, "another")), (1, 0));
    let mut released = owned_lb("uid", 2);
    released.metadata.owner_references = None;
    let event = StoreEvent::Apply(released);
    assert_eq!(requests(&mut index, event), ["Service ns/svc"]);
    assert_eq!(owned(&index, "uid"), 0);
}
