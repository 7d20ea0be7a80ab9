use super::*;
use crate::api::{AddressFamily, BackendGroup, Bind, BindStatus, ObjectKey, names};
use crate::backends::OwnerKind;
use crate::index::{
    Endpoint, EndpointConditions, Index, PodTarget, ServiceView, SlicePort, SliceView,
};
use lbcf_driver_sdk::webhook::Protocol;
use serde_json::{Value, json};
use std::sync::Arc;

fn of_group(
    group: &BackendGroup,
    pod: &PodView,
    service: &SelectedService,
    use_of: impl Fn(&str) -> LoadBalancerUse,
) -> Vec<RecordNames> {
    let names = group.spec.load_balancer_names();
    let lbs = names.map(|lb| (lb.to_owned(), use_of(lb))).collect();
    expected(
        &Owner::Group(ObjectKey::of(group)),
        group,
        &lbs,
        pod,
        service,
    )
}

fn of_bind(bind: &Bind) -> Vec<RecordNames> {
    let lbs = bind.load_balancers(&Index::default(), &BindStatus::default());
    let owner = Owner::Bind(ObjectKey::of(bind));
    expected(&owner, bind, &lbs, &pod(), &SelectedService::default())
}

fn pod() -> PodView {
    PodView {
        key: ObjectKey::new("ns", "web-0"),
        uid: "u".into(),
        ip: "10.0.0.1".into(),
        ..PodView::default()
    }
}

fn group(meta: Value) -> BackendGroup {
    let mut group = json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "BackendGroup",
        "metadata": {"name": "web", "namespace": "ns"},
        "spec": {
            "loadBalancers": ["created", "new", "gone"],
            "pods": {"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}], "byName": ["web-0"]},
        },
    });
    json_patch::merge(&mut group["metadata"], &meta);
    serde_json::from_value(group).unwrap()
}

/// The names of a record.
fn both(name: String) -> RecordNames {
    let other = names::other_name(&name);
    vec![name, other]
}

fn use_of(lb: &str) -> LoadBalancerUse {
    match lb {
        "created" => LoadBalancerUse::Unknown,
        "new" => LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated(None)),
        _ => LoadBalancerUse::Unusable(UnusableLoadBalancer::Missing),
    }
}

#[test]
fn d69_a_group_has_a_record_for_each_port_and_load_balancer_that_will_have_backends() {
    let name = |lb: &str, port: i32, protocol: &str| {
        both(names::pod_record_name(lb, "web", "u", port, protocol))
    };
    assert_eq!(
        of_group(
            &group(json!({})),
            &pod(),
            &SelectedService::default(),
            use_of
        ),
        [
            name("created", 80, "TCP"),
            name("created", 53, "UDP"),
            name("new", 80, "TCP"),
            name("new", 53, "UDP"),
        ]
    );
    let deleting = group(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
    assert!(of_group(&deleting, &pod(), &SelectedService::default(), use_of).is_empty());
    for (why, expected) in [
        (UnusableLoadBalancer::Missing, 0),
        (UnusableLoadBalancer::Deleting, 0),
        (UnusableLoadBalancer::OutOfScope, 0),
        (UnusableLoadBalancer::NotCreated(None), 6),
    ] {
        let found = of_group(
            &group(json!({})),
            &pod(),
            &SelectedService::default(),
            |_| LoadBalancerUse::Unusable(why.clone()),
        );
        assert_eq!(found.len(), expected, "{why:?}");
    }
}

fn endpoint_group(port: i32) -> BackendGroup {
    let mut group = serde_json::to_value(group(json!({}))).unwrap();
    group["spec"]["loadBalancers"] = json!(["created", "gone"]);
    let spec = group["spec"].as_object_mut().unwrap();
    spec.remove("pods");
    let service = json!({"name": "svc", "mode": "Endpoints", "port": {"port": port}});
    spec.insert("service".into(), service);
    serde_json::from_value(group).unwrap()
}

fn service(slices: Vec<SliceView>) -> SelectedService {
    let service = json!({
        "metadata": {"name": "svc", "namespace": "ns"},
        "spec": {"ports": [{"port": 80, "targetPort": 8080}]},
    });
    SelectedService {
        service: Some(Arc::new(ServiceView::of(
            &serde_json::from_value(service).unwrap(),
        ))),
        slices: slices.into_iter().map(Arc::new).collect(),
    }
}

fn slice(family: AddressFamily, address: &str, uid: &str) -> SliceView {
    let endpoint = Endpoint {
        address: address.into(),
        conditions: EndpointConditions {
            ready: Some(false),
            ..EndpointConditions::default()
        },
        pod: Some(PodTarget {
            name: "web-0".into(),
            uid: uid.into(),
        }),
        node_name: None,
        zone: None,
        hostname: None,
        for_zones: Box::default(),
    };
    SliceView {
        key: ObjectKey::new("ns", family.as_str()),
        version: 1,
        service: Some(ObjectKey::new("ns", "svc")),
        family,
        ports: vec![SlicePort {
            name: String::new(),
            port: Some(8080),
            protocol: Protocol::Tcp,
            app_protocol: None,
        }],
        endpoints: vec![endpoint],
        problems: Vec::new(),
        is_unknown: false,
    }
}

#[test]
fn d76_a_group_on_endpoints_has_a_record_for_each_endpoint_of_the_pod() {
    use AddressFamily::{IPv4, IPv6};
    let group = endpoint_group(80);
    let name = |address| {
        let uid = "u";
        let name = names::OwnerName::Group("web").endpoint_record(
            "created",
            "svc",
            uid,
            address,
            (8080, "TCP"),
        );
        both(name)
    };
    let of = |group: &BackendGroup, service| of_group(group, &pod(), &service, use_of);
    let both = || vec![slice(IPv4, "10.0.0.1", "u"), slice(IPv6, "fd00::1", "u")];
    assert_eq!(
        of(&group, service(both())),
        [name("10.0.0.1"), name("fd00::1")]
    );
    // Not in the slices yet: there will be records, of which nothing is known.
    for slices in [vec![], vec![slice(IPv4, "10.0.0.1", "earlier")]] {
        assert_eq!(of(&group, service(slices)), [RecordNames::new()]);
    }
    // Nothing to wait for until a user acts.
    let mut only_v6 = group.clone();
    only_v6.spec.service.as_mut().unwrap().address_families = vec![IPv6];
    let v4 = || vec![slice(IPv4, "10.0.0.1", "u")];
    assert!(of(&only_v6, service(v4())).is_empty());
    assert!(of(&endpoint_group(81), service(v4())).is_empty());
    assert!(of(&group, SelectedService::default()).is_empty());
    let mut deleting = service(vec![]);
    Arc::make_mut(deleting.service.as_mut().unwrap()).deleting = true;
    assert!(of(&group, deleting).is_empty());
}

#[test]
fn d67_a_bind_has_a_record_for_each_port_and_load_balancer() {
    let bind = |meta: Value| -> Bind {
        let mut bind = json!({
            "apiVersion": "lbcf.tkestack.io/v1", "kind": "Bind",
            "metadata": {"name": "web", "namespace": "ns"},
            "spec": {
                "loadBalancers": [{"name": "a", "driver": "d"}, {"name": "b", "driver": "d"}],
                "pods": {"ports": [{"port": 80, "protocol": "tcp"}], "byName": ["web-0"]},
            },
        });
        json_patch::merge(&mut bind["metadata"], &meta);
        serde_json::from_value(bind).unwrap()
    };
    let name =
        |lb: &str| names::bind_record_names("web", lb, "web-0", "10.0.0.1", "tcp", 80).to_vec();
    assert_eq!(of_bind(&bind(json!({}))), [name("a"), name("b")]);
    let deleting = bind(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
    assert!(of_bind(&deleting).is_empty());
}
