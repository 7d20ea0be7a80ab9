use super::services::service;
use super::*;
use crate::api::{AddressFamily, DeregisterPolicy, EndpointBackendRecord, ServiceMode};

fn slice(name: &str, addresses: &[&str], version: u64) -> SliceView {
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
    let found = index.endpoints_at(&record_of("10.0.0.2", 5));
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
