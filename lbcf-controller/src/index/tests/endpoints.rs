use super::services::service;
use super::*;
use crate::api::{AddressFamily, DeregisterPolicy, EndpointBackendRecord, ServiceMode};
use crate::index::request::Unit;
use std::sync::Arc;

pub(super) fn slice(name: &str, addresses: &[&str], version: u64) -> SliceView {
    let endpoint = |address: &&str| Endpoint {
        address: (*address).into(),
        conditions: EndpointConditions::default(),
        pod: Some(PodTarget {
            name: "p0".into(),
            uid: "uid-p0".into(),
        }),
        node_name: None,
        zone: None,
        hostname: None,
        for_zones: Box::default(),
    };
    let mut endpoints: Vec<Endpoint> = addresses.iter().map(endpoint).collect();
    endpoints.sort_by(|a, b| a.address.cmp(&b.address));
    SliceView {
        key: key(name),
        version,
        service: Some(key("svc")),
        family: AddressFamily::IPv4,
        ports: Vec::new(),
        endpoints,
        problems: Vec::new(),
        is_unknown: false,
    }
}

fn group_on_endpoints(version: u64) -> BackendGroup {
    let mut group = group("web", &[], version);
    group.spec.pods = None;
    group.spec.service = Some(ServiceSelection {
        name: "svc".into(),
        mode: Some(ServiceMode::Endpoints),
        ..ServiceSelection::default()
    });
    group
}

fn record_of(address: &str, version: u64) -> BackendRecord {
    let mut record = record(&format!("r-{address}"), version);
    record.spec.endpoint_backend = Some(EndpointBackendRecord {
        service: "svc".into(),
        address: address.into(),
        ..EndpointBackendRecord::default()
    });
    record
}

fn apply<K: Indexed>(index: &mut Index, object: K) -> Vec<Request> {
    K::apply(index, StoreEvent::Apply(object))
}

fn of_web() -> RequestKey {
    RequestKey::Group(key("web"))
}

#[test]
fn e1_the_endpoints_of_all_slices_of_a_service_are_a_groups_units() {
    let mut index = Index::default();
    apply(&mut index, slice("a", &["10.0.0.1", "10.0.0.2"], 1));
    apply(&mut index, slice("b", &["10.0.0.2", "10.0.0.3"], 2));
    let mut other = slice("c", &["10.0.0.4"], 3);
    other.service = Some(key("other"));
    apply(&mut index, other);
    apply(&mut index, group_on_endpoints(4));
    assert_eq!(pending(&mut index), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    assert_eq!(index.slices_of(&key("svc")).len(), 2);
    let found = index.endpoints_of_record(&record_of("10.0.0.2", 5));
    assert_eq!(found.len(), 2);
    Indexed::apply(&mut index, StoreEvent::Delete(slice("a", &[], 6)));
    assert_eq!(index.slices_of(&key("svc")).len(), 1);
}

#[test]
fn e1_d60_a_change_of_a_slice_concerns_the_addresses_that_it_changes() {
    let mut index = Index::default();
    apply(&mut index, slice("a", &["10.0.0.1", "10.0.0.2"], 1));
    apply(&mut index, group_on_endpoints(2));
    pending(&mut index);
    let requests = apply(&mut index, slice("a", &["10.0.0.1", "10.0.0.2"], 3));
    assert_eq!(requests, [], "another field changed");
    let requests = apply(&mut index, slice("b", &["10.0.0.3"], 4));
    assert_eq!(requests, [Request::normal(of_web())]);
    assert_eq!(pending(&mut index), ["10.0.0.3"]);
    // It moves to the other slice.
    let requests = apply(&mut index, slice("a", &["10.0.0.1"], 5));
    assert_eq!(requests, [Request::high(of_web())]);
    apply(&mut index, slice("b", &["10.0.0.2", "10.0.0.3"], 6));
    assert_eq!(pending(&mut index), ["10.0.0.2"]);
    // Slices of no service, or of one without a group, concern nothing.
    let mut other = slice("c", &["10.0.0.4"], 7);
    other.service = Some(key("other"));
    assert_eq!(apply(&mut index, other.clone()), []);
    (other.service, other.version) = (None, 8);
    assert_eq!(apply(&mut index, other), []);
}

#[test]
fn d60_addresses_of_another_service_do_not_count_any_more() {
    let mut index = Index::default();
    apply(&mut index, slice("a", &["10.0.0.1"], 1));
    apply(&mut index, group_on_endpoints(2));
    pending(&mut index);
    // It is not ready, so that it has no record.
    let tally = UnitTally {
        endpoints: 1,
        unready: 1,
    };
    index
        .unit_tallies
        .set(&of_group("web"), &"10.0.0.1".into(), tally);
    let mut moved = group_on_endpoints(3);
    moved.spec.service.as_mut().unwrap().name = "other".into();
    apply(&mut index, moved);
    assert_eq!(pending(&mut index), [""; 0]);
    assert_eq!(index.unit_tallies.of(&of_group("web")).units, 0);
}

#[test]
fn d64_a_new_problem_of_a_slice_enqueues_its_groups() {
    let mut index = Index::default();
    apply(&mut index, slice("a", &["10.0.0.1"], 1));
    apply(&mut index, group_on_endpoints(2));
    pending(&mut index);
    let mut malformed = slice("a", &["10.0.0.1"], 3);
    malformed.problems.push("endpoints[1].addresses".into());
    let requests = apply(&mut index, malformed);
    assert_eq!(requests, [Request::normal(of_web())]);
    assert_eq!(pending(&mut index), [""; 0]);
    // What was unknown has to be compared as a whole.
    let mut unknown = slice("a", &[], 4);
    unknown.is_unknown = true;
    apply(&mut index, unknown);
    pending(&mut index);
    apply(&mut index, record_of("10.0.0.9", 5));
    pending(&mut index);
    apply(&mut index, slice("a", &[], 6));
    assert_eq!(pending(&mut index), ["10.0.0.9"]);
}

#[test]
fn d62_pods_concern_a_group_on_endpoints_only_if_its_policy_is_about_them() {
    let mut index = Index::default();
    apply(&mut index, service(1));
    apply(&mut index, slice("a", &["10.0.0.1"], 2));
    apply(&mut index, pod("p0", &[("app", "web")], 3));
    let mut group = group_on_endpoints(4);
    apply(&mut index, group.clone());
    apply(&mut index, record_of("10.0.0.1", 5));
    pending(&mut index);
    let unready = |version| {
        let mut pod = pod("p0", &[("app", "web")], version);
        pod.ready = version % 2 == 0;
        pod
    };
    let of_group = |requests: Vec<Request>| requests.iter().any(|it| it.key == of_web());
    assert!(!of_group(apply(&mut index, unready(6))));
    assert!(!of_group(apply(&mut index, unready(7))));
    group.spec.deregister_policy = Some(DeregisterPolicy::IfNotRunning);
    group.metadata.resource_version = Some("8".into());
    apply(&mut index, group);
    pending(&mut index);
    assert!(of_group(apply(&mut index, unready(10))));
    assert_eq!(
        pending(&mut index),
        ["10.0.0.1"],
        "the address, not the pod"
    );
    // Which pods a driver judges is known by the records of the pods.
    let owner = super::of_group("web");
    apply(&mut index, unready(11));
    let [registered, others] = index.unready_pods_of(&owner);
    assert_eq!((registered.len(), others.len()), (1, 0));
}

#[test]
fn b120_a_record_without_an_address_is_enqueued_when_its_endpoint_changes() {
    let mut index = Index::default();
    apply(&mut index, slice("a", &["10.0.0.1"], 1));
    apply(&mut index, group_on_endpoints(2));
    apply(&mut index, record_of("10.0.0.1", 3));
    let mut ready = slice("a", &["10.0.0.1"], 4);
    ready.endpoints[0].conditions.ready = Some(true);
    let requests = keys(apply(&mut index, ready));
    assert_eq!(
        requests,
        ["BackendGroup ns/web", "BackendRecord ns/r-10.0.0.1"]
    );
}

fn gated(version: u64, gate: GateStatus, ready: bool) -> PodView {
    PodView {
        gate: Some(gate),
        ready,
        ip: "10.0.0.1".into(),
        ..pod("p0", &[("app", "web")], version)
    }
}

fn unready(name: &str, addresses: &[&str], version: u64) -> SliceView {
    let mut slice = slice(name, addresses, version);
    for endpoint in &mut slice.endpoints {
        endpoint.conditions.ready = Some(false);
    }
    slice
}

/// Whether the endpoints at an address are not ready only because of the gate.
fn awaits_gate(index: &Index, address: &str) -> Vec<bool> {
    let slices = index.slices_of(&key("svc"));
    let found = index.endpoints_at(&super::of_group("web"), &slices, address);
    found.into_iter().map(|found| found.awaits_gate).collect()
}

#[test]
fn d76_a_group_on_endpoints_depends_on_pods_with_the_gate_and_on_no_others() {
    let mut index = Index::default();
    apply(&mut index, service(1));
    apply(&mut index, group_on_endpoints(2));
    let address = gated(3, GateStatus::Unset, false).ip;
    apply(&mut index, unready("a", &[&address], 4));
    pending(&mut index);
    let requests = keys(apply(&mut index, pod("p1", &[("app", "web")], 5)));
    assert_eq!(requests, [""; 0], "a pod without the gate");
    assert!(index.owners_of_pod(&key("p1")).is_empty());

    apply(&mut index, gated(6, GateStatus::Unset, false));
    assert_eq!(index.owners_of_pod(&key("p0")), [super::of_group("web")]);
    pending(&mut index);
    assert_eq!(awaits_gate(&index, &address), [false]);
    // Its containers become ready: it has no record yet, by which it could be found.
    let requests = keys(apply(&mut index, gated(7, GateStatus::Unset, true)));
    assert_eq!(requests, ["BackendGroup ns/web", "Pod ns/p0"]);
    assert_eq!(pending(&mut index), [address.as_str()]);
    assert_eq!(awaits_gate(&index, &address), [true]);
    // Another pod of that name, one that is going away, and an endpoint that is.
    let mut other = gated(8, GateStatus::Unset, true);
    other.uid = "another".into();
    apply(&mut index, other);
    assert_eq!(awaits_gate(&index, &address), [false]);
    let mut deleting = gated(9, GateStatus::Unset, true);
    deleting.deleting = true;
    apply(&mut index, deleting);
    assert_eq!(awaits_gate(&index, &address), [false]);
    apply(&mut index, gated(10, GateStatus::Unset, true));
    let mut terminating = unready("a", &[&address], 11);
    terminating.endpoints[0].conditions.terminating = Some(true);
    apply(&mut index, terminating);
    assert_eq!(awaits_gate(&index, &address), [false]);
}

#[test]
fn d76_a_pod_that_waits_is_reconciled_when_its_endpoint_or_service_changes() {
    let mut index = Index::default();
    let of_pod = |requests: Vec<Request>| keys(requests).contains(&"Pod ns/p0".to_owned());
    apply(&mut index, service(1));
    apply(&mut index, group_on_endpoints(2));
    apply(&mut index, gated(3, GateStatus::False, true));
    let address = gated(3, GateStatus::False, true).ip;
    assert!(of_pod(apply(&mut index, unready("a", &[&address], 4))));
    let mut with_port = unready("a", &[&address], 5);
    with_port.ports.push(SlicePort {
        name: String::new(),
        port: Some(8080),
        protocol: lbcf_driver_sdk::webhook::Protocol::Tcp,
        app_protocol: None,
    });
    assert!(of_pod(apply(&mut index, with_port)));
    let mut other_port = service(6);
    other_port.ports[0].port += 1;
    assert!(of_pod(apply(&mut index, other_port)));
    let mut other_pods = service(7);
    other_pods.selector = [("app".to_owned(), "db".to_owned())].into();
    assert!(of_pod(apply(&mut index, other_pods)));
    assert!(index.owners_of_pod(&key("p0")).is_empty());
    apply(&mut index, service(8));
    // One whose gate is open waits for nothing.
    apply(&mut index, gated(9, GateStatus::True, true));
    assert!(!of_pod(apply(&mut index, unready("a", &[&address], 10))));
}

#[test]
fn d76_the_endpoints_of_a_pod_are_found_by_its_address_and_in_slices_of_other_types() {
    let pod = gated(1, GateStatus::Unset, true);
    let same = slice("a", &[&pod.ip, "10.9.9.9"], 1);
    let mut other_type = slice("b", &["fd00::1", "fd00::2"], 2);
    other_type.family = AddressFamily::IPv6;
    other_type.endpoints[1].pod = Some(PodTarget {
        name: "p1".into(),
        uid: "uid-p1".into(),
    });
    let slices = [same, other_type].map(Arc::new);
    let addresses = |pod: &PodView| {
        let found = endpoints_of_pod(&slices, pod).into_iter();
        found.map(|it| it.endpoint.address).collect::<Vec<_>>()
    };
    assert_eq!(
        addresses(&pod),
        [pod.ip.as_str().into(), Unit::from("fd00::1")]
    );
    let without_address = PodView {
        ip: String::new(),
        ..pod
    };
    assert!(addresses(&without_address).is_empty());
}
