use super::*;
use crate::api::{
    BackendGroup, BackendGroupSpec, BackendRecord, BackendRecordSpec, BackendRecordStatus, Bind,
    BindSpec, Condition, LoadBalancer, LoadBalancerSpec, PodBackendRecord, PodSelection,
    SelectPodByLabel, ServiceSelection, TargetLoadBalancer, TargetLoadBalancerStatus,
    condition_types,
};
use crate::key::{BindLoadBalancerKey, Owner, RequestKey};
use crate::reconcile::{Priority, Request};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::Resource;
use std::collections::BTreeMap;

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("ns", name)
}

fn placed<K: Resource>(mut object: K, version: u64) -> K {
    object.meta_mut().namespace = Some("ns".into());
    object.meta_mut().resource_version = Some(version.to_string());
    object.meta_mut().generation = Some(1);
    object
}

fn pod(name: &str, labels: &[(&str, &str)], version: u64) -> PodView {
    PodView {
        key: key(name),
        uid: format!("uid-{name}"),
        version,
        labels: labels
            .iter()
            .map(|&(label, value)| (label.into(), value.into()))
            .collect(),
        ip: format!("ip-{name}"),
        node: "n0".into(),
        ready: true,
        running: true,
        finished: false,
        deleting: false,
    }
}

fn group(name: &str, selector: &[(&str, &str)], version: u64) -> BackendGroup {
    let selector = selector
        .iter()
        .map(|&(label, value)| (label.into(), value.into()))
        .collect();
    let spec = BackendGroupSpec {
        load_balancers: vec!["lb".into()],
        pods: Some(PodSelection {
            by_label: Some(SelectPodByLabel {
                selector,
                except: vec!["excepted".into()],
            }),
            ..PodSelection::default()
        }),
        ..BackendGroupSpec::default()
    };
    placed(BackendGroup::new(name, spec), version)
}

fn record(name: &str, version: u64) -> BackendRecord {
    let spec = BackendRecordSpec {
        lb_name: "lb".into(),
        lb_driver: "driver".into(),
        pod_backend: Some(PodBackendRecord {
            name: "p0".into(),
            ..PodBackendRecord::default()
        }),
        ..BackendRecordSpec::default()
    };
    let mut record = placed(BackendRecord::new(name, spec), version);
    record.metadata.finalizers = Some(vec!["f".into()]);
    record.metadata.owner_references = Some(vec![OwnerReference {
        kind: "BackendGroup".into(),
        name: "web".into(),
        controller: Some(true),
        ..OwnerReference::default()
    }]);
    record
}

fn with_address(mut record: BackendRecord) -> BackendRecord {
    let status = BackendRecordStatus {
        backend_addr: "10.0.0.1".into(),
        ..Default::default()
    };
    record.status = Some(status);
    record
}

fn deleting(mut record: BackendRecord) -> BackendRecord {
    record.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    record
}

fn keys(requests: Vec<Request>) -> Vec<String> {
    let mut keys: Vec<_> = requests
        .into_iter()
        .map(|request| request.key.to_string())
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

fn of_group(name: &str) -> Owner {
    Owner::Group(key(name))
}

fn selected(index: &mut Index, group: &str) -> Vec<String> {
    let owner = of_group(group);
    index.pending.mark_all(&owner);
    let units = index.take_units(&owner, 100);
    let pods = index.pods_of(&owner, &units);
    pods.iter().map(|pod| pod.key.name.clone()).collect()
}

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

#[test]
fn an_older_state_never_replaces_a_newer_one() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Written(with_address(record("r", 5))),
    );
    assert!(
        Indexed::apply(&mut index, StoreEvent::Apply(record("r", 3))).is_empty(),
        "it is outdated"
    );
    let known = index.find::<BackendRecord>(&key("r")).unwrap();
    assert!(known.status.is_some());
    // The watch is at 9: the response to an older write is outdated.
    Indexed::apply(&mut index, StoreEvent::Apply(record("other", 9)));
    assert!(Indexed::apply(&mut index, StoreEvent::Written(record("r", 7))).is_empty());
}

#[test]
fn an_object_that_a_write_removed_does_not_return() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 1))));
    let mut removed = deleting(record("r", 4));
    removed.metadata.finalizers = None;
    Indexed::apply(&mut index, StoreEvent::Written(removed));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(deleting(record("r", 3)))).is_empty());
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    // A later record of this name is not removed with the old one.
    Indexed::apply(&mut index, StoreEvent::Written(record("r", 6)));
    Indexed::apply(&mut index, StoreEvent::Delete(record("r", 4)));
    assert!(index.find::<BackendRecord>(&key("r")).is_some());
}

#[test]
fn an_object_that_a_write_removed_is_removed_even_if_the_response_has_an_old_version() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(deleting(record("r", 5))));
    let mut removed = deleting(record("r", 5));
    removed.metadata.finalizers = None;
    let requests = keys(Indexed::apply(
        &mut index,
        StoreEvent::Written(removed.clone()),
    ));
    assert!(
        requests.contains(&"BackendRecord ns/r".to_owned()),
        "{requests:?}"
    );
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    assert!(Indexed::apply(&mut index, StoreEvent::Delete(removed.clone())).is_empty());
    // The watch reports that version after the response: the record does not return.
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 4)));
    Indexed::apply(&mut index, StoreEvent::Written(deleting(record("r", 5))));
    Indexed::apply(&mut index, StoreEvent::Written(removed.clone()));
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(deleting(record("r", 5)))).is_empty());
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    // A later record of this name is kept.
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 8)));
    Indexed::apply(&mut index, StoreEvent::Written(removed));
    assert!(index.find::<BackendRecord>(&key("r")).is_some());
}

#[test]
fn a_new_list_removes_what_it_does_not_contain_unless_it_was_created_since() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("old", 1)));
    Indexed::apply(&mut index, StoreEvent::Apply(record("kept", 2)));
    BackendRecord::apply(&mut index, StoreEvent::Init);
    BackendRecord::apply(&mut index, StoreEvent::InitApply(record("kept", 5)));
    Indexed::apply(&mut index, StoreEvent::Written(record("new", 8)));
    let requests = BackendRecord::apply(&mut index, StoreEvent::InitDone);
    assert_eq!(index.get::<BackendRecord>(&key("old")), Lookup::Missing);
    assert!(index.find::<BackendRecord>(&key("kept")).is_some());
    assert!(index.find::<BackendRecord>(&key("new")).is_some());
    assert!(keys(requests).contains(&"BackendGroup ns/web".to_owned()));
}

#[test]
fn a_new_list_also_removes_what_only_a_write_reported() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    // Written at 5, removed at 6 with a lost response: the list contains no version.
    Indexed::apply(&mut index, StoreEvent::Written(record("r", 5)));
    BackendRecord::apply(&mut index, StoreEvent::Init);
    BackendRecord::apply(&mut index, StoreEvent::InitDone);
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    // Responses from before the list stay outdated.
    Indexed::apply(&mut index, StoreEvent::Written(record("r", 4)));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
}

#[test]
fn an_object_that_is_not_found_is_removed_but_not_a_newer_one_of_its_name() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 5)));
    let requests = BackendRecord::apply(&mut index, StoreEvent::NotFound(key("r"), 5));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    assert!(keys(requests).contains(&"BackendGroup ns/web".to_owned()));
    // An earlier watch event is outdated.
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 5)));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 9)));
    assert!(BackendRecord::apply(&mut index, StoreEvent::NotFound(key("r"), 5)).is_empty());
    assert!(index.find::<BackendRecord>(&key("r")).is_some());
    assert!(BackendRecord::apply(&mut index, StoreEvent::NotFound(key("other"), 5)).is_empty());
}

#[test]
fn u9_an_unreadable_object_is_not_missing() {
    let mut index = Index::default();
    LoadBalancer::apply(&mut index, StoreEvent::Unreadable(key("lb")));
    assert_eq!(index.get::<LoadBalancer>(&key("lb")), Lookup::Unreadable);
    LoadBalancer::apply(&mut index, StoreEvent::UnreadableDelete(key("lb")));
    assert_eq!(index.get::<LoadBalancer>(&key("lb")), Lookup::Missing);
    BackendRecord::apply(&mut index, StoreEvent::Unreadable(key("r")));
    assert!(index.records.has_unreadable());
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 2)));
    assert!(!index.records.has_unreadable());
}

#[test]
fn b118_b125_a_records_status_enqueues_only_its_group() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 1))));
    let mut registered = with_address(record("r", 2));
    registered.status.as_mut().unwrap().conditions =
        vec![Condition::met(condition_types::REGISTERED, Some(1))];
    let requests = Indexed::apply(&mut index, StoreEvent::Written(registered));
    assert_eq!(requests, [Request::batched(RequestKey::Group(key("web")))]);
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Apply(deleting(with_address(record("r", 3)))),
    );
    assert!(requests.contains(&Request::high(RequestKey::Record(key("r")))));
}

#[test]
fn u18_u19_the_removal_of_a_record_enqueues_what_waited_for_it() {
    let mut index = Index::default();
    let mut lb = placed(LoadBalancer::new("lb", LoadBalancerSpec::default()), 1);
    lb.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    Indexed::apply(&mut index, StoreEvent::Apply(lb));
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 2))));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(with_address(record("neighbour", 3))),
    );
    assert_eq!(
        index
            .records
            .neighbours(&with_address(record("r", 2)))
            .len(),
        1
    );
    assert_eq!(
        index
            .records
            .count_of_load_balancer(&RequestKey::LoadBalancer(key("lb"))),
        2
    );
    let requests = keys(Indexed::apply(
        &mut index,
        StoreEvent::Delete(with_address(record("r", 4))),
    ));
    assert_eq!(
        requests,
        [
            "BackendGroup ns/web",
            "BackendRecord ns/neighbour",
            "BackendRecord ns/r",
            "LoadBalancer ns/lb"
        ]
    );
    assert_eq!(
        index
            .records
            .count_of_load_balancer(&RequestKey::LoadBalancer(key("lb"))),
        1
    );
}

/// A record of a group, with an address that others have too.
fn record_of(name: &str, group: &str, version: u64) -> BackendRecord {
    let mut record = with_address(record(name, version));
    record.metadata.owner_references.as_mut().unwrap()[0].name = group.into();
    record
}

#[test]
fn d41_the_record_of_the_oldest_owner_takes_precedence() {
    let created = |seconds| Some(Time(Timestamp::from_second(seconds).unwrap()));
    let mut index = Index::default();
    for (name, age, version) in [("young", 30, 1), ("old", 10, 2), ("also-old", 10, 3)] {
        let mut group = group(name, &[("app", "web")], version);
        group.metadata.creation_timestamp = created(age);
        Indexed::apply(&mut index, StoreEvent::Apply(group));
    }
    // The age of a record counts only where its owner does not exist.
    let owners = ["young", "old", "also-old", "deleted"];
    for (version, owner) in (4..).zip(owners) {
        let mut record = record_of(&format!("of-{owner}"), owner, version);
        record.metadata.creation_timestamp = created(20 - i64::try_from(version).unwrap());
        Indexed::apply(&mut index, StoreEvent::Apply(record));
    }
    let neighbours = |name| {
        let record = index.find::<BackendRecord>(&key(name)).unwrap();
        let neighbours = index.neighbours(&record).into_iter();
        let name = |it: Neighbour| {
            (
                it.record.metadata.name.clone().unwrap(),
                it.takes_precedence,
            )
        };
        neighbours.map(name).collect::<Vec<_>>()
    };
    let expected = |names: [(&str, bool); 3]| names.map(|(name, it)| (name.to_owned(), it));
    assert_eq!(
        neighbours("of-deleted"),
        expected([("of-also-old", true), ("of-old", true), ("of-young", false)])
    );
    assert_eq!(
        neighbours("of-also-old"),
        expected([
            ("of-old", false),
            ("of-deleted", false),
            ("of-young", false)
        ])
    );
}

#[test]
fn d41_a_record_enqueues_its_neighbours_when_they_depend_on_the_change() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record_of("a", "web", 1)));
    let mut change = |record: BackendRecord| {
        let requests = keys(Indexed::apply(&mut index, StoreEvent::Apply(record)));
        requests.contains(&"BackendRecord ns/a".to_owned())
    };
    let mut other = record_of("b", "other", 2);
    other.status = None;
    assert!(!change(other.clone()), "it has no address");
    let mut step = |version: u64, change_to: &dyn Fn(&mut BackendRecord)| {
        other.metadata.resource_version = Some(version.to_string());
        change_to(&mut other);
        change(other.clone())
    };
    assert!(step(3, &|it| it.status = record_of("b", "other", 0).status));
    assert!(!step(4, &|it| it.metadata.labels = Some(BTreeMap::new())));
    assert!(step(5, &|it| it.spec.parameters = [("weight", "1")].into()));
    let met = Condition::met(condition_types::REGISTERED, Some(1));
    let status =
        |it: &mut BackendRecord| it.status.get_or_insert_default().conditions = vec![met.clone()];
    assert!(step(6, &status));
    assert!(step(7, &|it| it.metadata.deletion_timestamp =
        Some(Time(Timestamp::UNIX_EPOCH))));
    assert!(step(8, &|it| it
        .status
        .get_or_insert_default()
        .backend_addr = "10.0.0.2".into()));
    assert!(
        !step(9, &|it| it.spec.parameters = [("weight", "2")].into()),
        "elsewhere"
    );
}

#[test]
fn b120_a_pod_enqueues_its_records_without_an_address() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    assert_eq!(
        keys(Indexed::apply(
            &mut index,
            StoreEvent::Apply(pod("p0", &[], 2))
        )),
        ["BackendRecord ns/r"]
    );
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 3))));
    let mut not_ready = pod("p0", &[], 4);
    not_ready.ready = false;
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(not_ready)).is_empty());
}

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
    let mut creating = lb(3);
    creating.status.get_or_insert_default().conditions = vec![Condition::unmet(
        condition_types::CREATED,
        "Creating",
        "",
        None,
    )];
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Written(creating))),
        Vec::<String>::new()
    );
    let mut created = lb(4);
    created.status.get_or_insert_default().conditions =
        vec![Condition::met(condition_types::CREATED, None)];
    assert_eq!(
        keys(Indexed::apply(&mut index, StoreEvent::Written(created))),
        ["BackendGroup ns/web"]
    );
}

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

fn service(version: u64) -> ServiceView {
    ServiceView {
        key: key("svc"),
        version,
        has_node_ports: true,
        ports: vec![ServicePortView {
            port: 80,
            protocol: "TCP".into(),
            node_port: 30080,
        }],
        selector: BTreeMap::from([("app".into(), "web".into())]),
        is_local: false,
        deleting: false,
    }
}

fn service_group(node_selector: &[(&str, &str)], version: u64) -> BackendGroup {
    let mut group = group("web", &[], version);
    group.spec.pods = None;
    group.spec.service = Some(ServiceSelection {
        name: "svc".into(),
        node_selector: node_selector
            .iter()
            .map(|&(label, value)| (label.into(), value.into()))
            .collect(),
        ..ServiceSelection::default()
    });
    group
}

fn node(name: &str, pool: &str, version: u64) -> NodeView {
    NodeView {
        key: ObjectKey::new("", name),
        version,
        labels: BTreeMap::from([("pool".into(), pool.into())]),
        addresses: Vec::new(),
        usable: true,
    }
}

/// The units of the group that are to be reconciled.
fn pending(index: &mut Index) -> Vec<String> {
    let units = index.take_units(&of_group("web"), 100);
    units.into_iter().collect()
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
fn u14_b118_a_service_change_is_detected_by_its_content() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 1)));
    Indexed::apply(&mut index, StoreEvent::Apply(service(2)));
    Indexed::apply(&mut index, StoreEvent::Apply(service_group(&[], 3)));
    assert_eq!(pending(&mut index), ["n0"]);
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(service(4))).is_empty());
    let mut moved = service(5);
    moved.ports[0].node_port = 30081;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(moved));
    assert_eq!(requests, [Request::high(RequestKey::Group(key("web")))]);
    assert_eq!(pending(&mut index), ["n0"]);
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Delete(service(6))).len(),
        1
    );
}

#[test]
fn u15_b22_a_node_enqueues_the_groups_that_select_it() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(service(1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(service_group(&[("pool", "a")], 2)),
    );
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "b", 3))).is_empty());
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 4))).len(),
        1
    );
    assert!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "a", 5))).is_empty(),
        "a heartbeat"
    );
    let mut excluded = node("n0", "a", 6);
    excluded.usable = false;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(excluded));
    assert_eq!(requests, [Request::high(RequestKey::Group(key("web")))]);
    assert_eq!(
        Indexed::apply(&mut index, StoreEvent::Apply(node("n0", "b", 7))).len(),
        1,
        "it no longer matches the group"
    );
}

#[test]
fn u16_the_nodes_of_a_local_services_pods_are_indexed() {
    let mut index = Index::default();
    let owner = of_group("web");
    Indexed::apply(&mut index, StoreEvent::Apply(service_group(&[], 1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(pod("p0", &[("app", "web")], 2)),
    );
    Indexed::apply(&mut index, StoreEvent::Apply(service(3)));
    assert!(
        !index.selections.has_available_on(&owner, "n0"),
        "it is not needed"
    );
    let mut local = service(4);
    local.is_local = true;
    Indexed::apply(&mut index, StoreEvent::Apply(local));
    assert!(index.selections.has_available_on(&owner, "n0"));
    pending(&mut index);
    let mut not_ready = pod("p0", &[("app", "web")], 5);
    not_ready.ready = false;
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(not_ready));
    assert_eq!(requests, [Request::high(RequestKey::Group(key("web")))]);
    assert_eq!(pending(&mut index), ["n0"], "the node, not the pod");
    assert!(!index.selections.has_available_on(&owner, "n0"));
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
                .map(|it| it.key.name.clone())
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

fn orphan(version: u64, labels: &[(&str, &str)]) -> BackendRecord {
    let mut record = record("r", version);
    record.metadata.owner_references = None;
    let labels = labels.iter();
    let labels = labels.map(|&(label, value)| (label.to_owned(), value.to_owned()));
    record.metadata.labels = Some(labels.collect());
    record
}

fn of_uid(mut group: BackendGroup, uid: &str) -> BackendGroup {
    group.metadata.uid = Some(uid.into());
    group
}

const OF_WEB: (&str, &str) = (crate::names::LABEL_BACKEND_GROUP, "web");

#[test]
fn d34_the_owner_of_a_record_is_known_by_its_uid_or_else_by_labels() {
    let mut index = Index::default();
    let mut owned = record("r", 1);
    owned.metadata.owner_references.as_mut().unwrap()[0].uid = "uid-1".into();
    let mut foreign = owned.clone();
    foreign.metadata.owner_references.as_mut().unwrap()[0].kind = "Other".into();
    let (labelled, unlabelled) = (orphan(1, &[OF_WEB]), orphan(1, &[]));
    let ownership = |index: &Index| {
        [&owned, &labelled, &unlabelled, &foreign].map(|record| index.ownership(record))
    };
    use Ownership::{Adoptable, Owned, Ownerless};
    assert_eq!(ownership(&index), [Ownerless, Ownerless, Ownerless, Owned]);
    let created = of_uid(group("web", &[], 2), "uid-1");
    Indexed::apply(&mut index, StoreEvent::Apply(created));
    assert_eq!(ownership(&index), [Owned, Adoptable, Ownerless, Owned]);
    Indexed::apply(
        &mut index,
        StoreEvent::Delete(of_uid(group("web", &[], 3), "uid-1")),
    );
    assert_eq!(ownership(&index), [Ownerless, Ownerless, Ownerless, Owned]);
    let another = of_uid(group("web", &[], 4), "uid-2");
    Indexed::apply(&mut index, StoreEvent::Apply(another));
    assert_eq!(ownership(&index), [Ownerless, Adoptable, Ownerless, Owned]);
    // u9: nothing is concluded from an owner that cannot be parsed.
    BackendGroup::apply(&mut index, StoreEvent::Unreadable(key("web")));
    assert_eq!(ownership(&index), [Owned, Adoptable, Ownerless, Owned]);
}

#[test]
fn d34_an_owner_that_comes_or_goes_enqueues_its_records() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(orphan(1, &[OF_WEB])));
    Indexed::apply(&mut index, StoreEvent::Apply(record("owned", 2)));
    let expected = [
        "BackendGroup ns/web",
        "BackendRecord ns/owned",
        "BackendRecord ns/r",
    ];
    let created = of_uid(group("web", &[], 3), "uid-1");
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(created));
    assert_eq!(keys(requests), expected);
    let mut changed = of_uid(group("web", &[], 4), "uid-1");
    changed.spec.parameters = [("weight", "1")].into();
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(changed));
    assert_eq!(keys(requests), ["BackendGroup ns/web"]);
    let another = of_uid(group("web", &[], 5), "uid-2");
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(another.clone()));
    assert_eq!(keys(requests), expected);
    // The orphan is among the records that the group compares with what it wants.
    let owner = of_group("web");
    let units = index.take_units(&owner, 10);
    assert_eq!(index.records_of(&owner, &units).len(), 2);
    let requests = Indexed::apply(&mut index, StoreEvent::Delete(another));
    assert_eq!(keys(requests), expected);
}

#[test]
fn d36_a_record_that_appears_or_is_edited_is_compared_by_its_owner() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(group("web", &[], 1)));
    pending(&mut index);
    let of_owner = Request::batched(RequestKey::Group(key("web")));
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(record("r", 2)));
    assert!(requests.contains(&of_owner), "{requests:?}");
    assert_eq!(pending(&mut index), ["p0"]);
    // Its own writes tell the controller nothing new.
    let requests = Indexed::apply(&mut index, StoreEvent::Written(record("written", 3)));
    assert_eq!(keys(requests), ["BackendRecord ns/written"]);
    assert!(pending(&mut index).is_empty());
    let mut version = 3;
    let mut apply = |index: &mut Index, change: fn(&mut BackendRecord)| {
        version += 1;
        let mut edited = record("r", version);
        change(&mut edited);
        let requests = Indexed::apply(index, StoreEvent::Apply(edited));
        let is_record_enqueued = keys(requests.clone()).contains(&"BackendRecord ns/r".to_owned());
        (requests.contains(&of_owner), is_record_enqueued)
    };
    let status = apply(&mut index, |record| *record = with_address(record.clone()));
    assert_eq!(status, (false, false));
    let labels = apply(&mut index, |record| {
        record.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    });
    assert_eq!(labels, (true, false));
    let parameters = apply(&mut index, |record| {
        record.spec.parameters = [("weight", "1")].into();
        record.metadata.generation = Some(2);
    });
    assert_eq!(parameters, (true, true));
    let _ = apply(&mut index, |_| {});
    let finalizers = apply(&mut index, |record| record.metadata.finalizers = None);
    assert_eq!(finalizers, (false, true));
    let _ = apply(&mut index, |_| {});
    // The former owner is enqueued, too.
    let owner = apply(&mut index, |record| record.metadata.owner_references = None);
    assert_eq!(owner, (true, true));
    assert_eq!(pending(&mut index), ["p0"]);
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
