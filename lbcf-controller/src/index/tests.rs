use super::*;
use crate::api::{
    BackendGroup, BackendGroupSpec, BackendRecord, BackendRecordSpec, BackendRecordStatus, Bind,
    BindSpec, Condition, LoadBalancer, LoadBalancerSpec, PodBackendRecord, PodSelection,
    SelectPodByLabel, ServiceSelection, TargetLoadBalancer, TargetLoadBalancerStatus,
    condition_types,
};
use crate::key::{BindLoadBalancerKey, Owner, WorkKey};
use crate::work::Urgency;
use crate::work::Work;
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
                except: vec!["left-out".into()],
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

fn leaving(mut record: BackendRecord) -> BackendRecord {
    record.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    record
}

fn keys(work: Vec<Work>) -> Vec<String> {
    let mut keys: Vec<_> = work.into_iter().map(|work| work.key.to_string()).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn of_group(name: &str) -> Owner {
    Owner::Group(key(name))
}

/// The names of all pods that a group selects.
fn selected(index: &mut Index, group: &str) -> Vec<String> {
    let owner = of_group(group);
    index.pending.mark_whole(&owner);
    let units = index.take_units(&owner, 100);
    let pods = index.pods_of(&owner, &units);
    pods.iter().map(|pod| pod.key.name.clone()).collect()
}

#[test]
fn u40_a_pods_labels_lead_to_its_groups_whichever_came_first() {
    let mut index = Index::default();
    index.pod(Change::Applied(pod(
        "p0",
        &[("app", "web"), ("tier", "a")],
        1,
    )));
    index.group(Change::Applied(group("web", &[("app", "web")], 2)));
    index.group(Change::Applied(group("other", &[("app", "other")], 3)));
    assert_eq!(selected(&mut index, "web"), ["p0"]);
    let work = index.pod(Change::Applied(pod("p1", &[("app", "web")], 4)));
    assert_eq!(keys(work), ["BackendGroup ns/web"]);
    let work = index.pod(Change::Applied(pod("p1", &[("app", "other")], 5)));
    assert_eq!(
        keys(work),
        ["BackendGroup ns/other", "BackendGroup ns/web"],
        "both are concerned"
    );
    assert_eq!(selected(&mut index, "web"), ["p0"]);
    assert_eq!(selected(&mut index, "other"), ["p1"]);
}

#[test]
fn b25_pods_that_are_left_out_and_empty_selectors_select_nothing() {
    let mut index = Index::default();
    index.group(Change::Applied(group("web", &[("app", "web")], 1)));
    index.group(Change::Applied(group("all", &[], 2)));
    let work = index.pod(Change::Applied(pod("left-out", &[("app", "web")], 3)));
    assert_eq!(keys(work), Vec::<String>::new());
}

#[test]
fn a_changed_selection_finds_its_pods_anew() {
    let mut index = Index::default();
    index.pod(Change::Applied(pod("p0", &[("app", "web")], 1)));
    index.group(Change::Applied(group("web", &[("app", "web")], 2)));
    index.group(Change::Applied(group("web", &[("app", "none")], 3)));
    assert!(selected(&mut index, "web").is_empty());
    let mut by_name = group("web", &[], 4);
    by_name.spec.pods = Some(PodSelection {
        by_name: vec!["p0".into(), "p1".into()],
        ..Default::default()
    });
    index.group(Change::Applied(by_name));
    assert_eq!(selected(&mut index, "web"), ["p0"]);
    let work = index.pod(Change::Applied(pod("p1", &[], 5)));
    assert_eq!(keys(work), ["BackendGroup ns/web"]);
}

#[test]
fn u31_b116_b117_only_what_deciding_can_tell_apart_is_work_and_leaving_comes_first() {
    let mut index = Index::default();
    index.group(Change::Applied(group("web", &[("app", "web")], 1)));
    index.pod(Change::Applied(pod("p0", &[("app", "web")], 2)));
    assert!(
        index
            .pod(Change::Applied(pod("p0", &[("app", "web")], 3)))
            .is_empty()
    );
    let mut not_running = pod("p0", &[("app", "web")], 4);
    not_running.running = false;
    assert_eq!(index.pod(Change::Applied(not_running)).len(), 1);
    let mut not_ready = pod("p0", &[("app", "web")], 5);
    not_ready.ready = false;
    let work = index.pod(Change::Applied(not_ready.clone()));
    assert_eq!(work[0].urgency, Urgency::First);
    let work = index.pod(Change::Deleted(PodView {
        version: 6,
        ..not_ready
    }));
    assert_eq!(keys(work), ["BackendGroup ns/web"]);
    assert!(selected(&mut index, "web").is_empty());
}

#[test]
fn the_older_state_is_never_taken_for_the_newer_one() {
    let mut index = Index::default();
    index.record(Change::Applied(record("r", 1)));
    index.record(Change::Written(with_address(record("r", 5))));
    assert!(
        index.record(Change::Applied(record("r", 3))).is_empty(),
        "it was on its way"
    );
    let known = index.get_record(&key("r")).found().unwrap();
    assert!(known.status.is_some());
    // The watch has come to 9: an answer to an older write tells nothing new.
    index.record(Change::Applied(record("other", 9)));
    assert!(index.record(Change::Written(record("r", 7))).is_empty());
}

#[test]
fn what_our_write_removed_does_not_come_back() {
    let mut index = Index::default();
    index.record(Change::Applied(with_address(record("r", 1))));
    let mut gone = leaving(record("r", 4));
    gone.metadata.finalizers = None;
    index.record(Change::Written(gone));
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    assert!(
        index
            .record(Change::Applied(leaving(record("r", 3))))
            .is_empty()
    );
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    // A namesake made later is another one, and the old one's end is not its.
    index.record(Change::Written(record("r", 6)));
    index.record(Change::Deleted(record("r", 4)));
    assert!(index.get_record(&key("r")).found().is_some());
}

#[test]
fn what_our_write_removed_is_gone_although_the_answer_bears_an_old_version() {
    let mut index = Index::default();
    index.record(Change::Applied(leaving(record("r", 5))));
    let mut gone = leaving(record("r", 5));
    gone.metadata.finalizers = None;
    let work = keys(index.record(Change::Written(gone.clone())));
    assert!(work.contains(&"BackendRecord ns/r".to_owned()), "{work:?}");
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    assert!(index.record(Change::Deleted(gone.clone())).is_empty());
    // The watch tells of that version after the answer: it does not bring the record back.
    let mut index = Index::default();
    index.record(Change::Applied(record("r", 4)));
    index.record(Change::Written(leaving(record("r", 5))));
    index.record(Change::Written(gone.clone()));
    assert!(
        index
            .record(Change::Applied(leaving(record("r", 5))))
            .is_empty()
    );
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    // A namesake made since stays.
    index.record(Change::Applied(record("r", 8)));
    index.record(Change::Written(gone));
    assert!(index.get_record(&key("r")).found().is_some());
}

#[test]
fn a_new_list_removes_what_it_does_not_name_but_nothing_made_since() {
    let mut index = Index::default();
    index.record(Change::Applied(record("old", 1)));
    index.record(Change::Applied(record("kept", 2)));
    index.record(Change::ListBegins);
    index.record(Change::Listed(record("kept", 5)));
    index.record(Change::Written(record("new", 8)));
    let work = index.record(Change::ListEnds);
    assert_eq!(index.get_record(&key("old")), Lookup::Missing);
    assert!(index.get_record(&key("kept")).found().is_some());
    assert!(index.get_record(&key("new")).found().is_some());
    assert!(keys(work).contains(&"BackendGroup ns/web".to_owned()));
}

#[test]
fn a_new_list_removes_what_only_our_own_write_told_of_too() {
    let mut index = Index::default();
    index.record(Change::Applied(record("r", 1)));
    // Written at 5, gone at 6 with an answer that was lost: the list knows no version at all.
    index.record(Change::Written(record("r", 5)));
    index.record(Change::ListBegins);
    index.record(Change::ListEnds);
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    // And news of before the list stays old news.
    index.record(Change::Written(record("r", 4)));
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
}

#[test]
fn what_the_api_server_does_not_have_is_gone_but_not_a_namesake() {
    let mut index = Index::default();
    index.record(Change::Applied(record("r", 5)));
    let work = index.record(Change::Absent(key("r"), 5));
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    assert!(keys(work).contains(&"BackendGroup ns/web".to_owned()));
    // What the watch still had to say of it comes too late.
    index.record(Change::Applied(record("r", 5)));
    assert_eq!(index.get_record(&key("r")), Lookup::Missing);
    index.record(Change::Applied(record("r", 9)));
    assert!(index.record(Change::Absent(key("r"), 5)).is_empty());
    assert!(index.get_record(&key("r")).found().is_some());
    assert!(index.record(Change::Absent(key("other"), 5)).is_empty());
}

#[test]
fn u9_what_cannot_be_understood_is_not_missing() {
    let mut index = Index::default();
    index.load_balancer(Change::Unreadable(key("lb")));
    assert_eq!(index.get_load_balancer(&key("lb")), Lookup::Unreadable);
    index.load_balancer(Change::Gone(key("lb")));
    assert_eq!(index.get_load_balancer(&key("lb")), Lookup::Missing);
    index.record(Change::Unreadable(key("r")));
    assert!(index.has_unreadable_records());
    index.record(Change::Applied(record("r", 2)));
    assert!(!index.has_unreadable_records());
}

#[test]
fn b118_b125_a_records_own_status_wakes_its_group_only() {
    let mut index = Index::default();
    index.record(Change::Applied(with_address(record("r", 1))));
    let mut registered = with_address(record("r", 2));
    registered.status.as_mut().unwrap().conditions =
        vec![Condition::met(condition_types::REGISTERED, Some(1))];
    let work = index.record(Change::Written(registered));
    assert_eq!(work, [Work::soon(WorkKey::Group(key("web")))]);
    let work = index.record(Change::Applied(leaving(with_address(record("r", 3)))));
    assert!(work.contains(&Work::first(WorkKey::Record(key("r")))));
}

#[test]
fn u18_u19_the_end_of_a_record_wakes_who_waited_for_it() {
    let mut index = Index::default();
    let mut lb = placed(LoadBalancer::new("lb", LoadBalancerSpec::default()), 1);
    lb.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    index.load_balancer(Change::Applied(lb));
    index.record(Change::Applied(with_address(record("r", 2))));
    index.record(Change::Applied(with_address(record("neighbour", 3))));
    assert_eq!(index.neighbours(&with_address(record("r", 2))).len(), 1);
    assert_eq!(
        index.records_of_load_balancer(&LoadBalancerOf::LoadBalancer(key("lb"))),
        2
    );
    let work = keys(index.record(Change::Deleted(with_address(record("r", 4)))));
    assert_eq!(
        work,
        [
            "BackendGroup ns/web",
            "BackendRecord ns/neighbour",
            "BackendRecord ns/r",
            "LoadBalancer ns/lb"
        ]
    );
    assert_eq!(
        index.records_of_load_balancer(&LoadBalancerOf::LoadBalancer(key("lb"))),
        1
    );
}

#[test]
fn b120_a_pod_wakes_its_records_without_an_address() {
    let mut index = Index::default();
    index.record(Change::Applied(record("r", 1)));
    assert_eq!(
        keys(index.pod(Change::Applied(pod("p0", &[], 2)))),
        ["BackendRecord ns/r"]
    );
    index.record(Change::Applied(with_address(record("r", 3))));
    let mut not_ready = pod("p0", &[], 4);
    not_ready.ready = false;
    assert!(index.pod(Change::Applied(not_ready)).is_empty());
}

#[test]
fn b118_u35_a_load_balancers_own_status_wakes_its_groups_when_they_see_a_difference() {
    let mut index = Index::default();
    index.group(Change::Applied(group("web", &[("app", "web")], 1)));
    let lb = |version: u64| {
        placed(
            LoadBalancer::new("lb", LoadBalancerSpec::default()),
            version,
        )
    };
    let work = index.load_balancer(Change::Applied(lb(2)));
    assert_eq!(keys(work), ["BackendGroup ns/web", "LoadBalancer ns/lb"]);
    let mut creating = lb(3);
    creating.status.get_or_insert_default().conditions = vec![Condition::unmet(
        condition_types::CREATED,
        "Creating",
        "",
        None,
    )];
    assert_eq!(
        keys(index.load_balancer(Change::Written(creating))),
        Vec::<String>::new()
    );
    let mut created = lb(4);
    created.status.get_or_insert_default().conditions =
        vec![Condition::met(condition_types::CREATED, None)];
    assert_eq!(
        keys(index.load_balancer(Change::Written(created))),
        ["BackendGroup ns/web"]
    );
}

#[test]
fn a_driver_that_comes_wakes_who_waited_for_it() {
    let mut index = Index::default();
    let mut lb = placed(LoadBalancer::new("lb", LoadBalancerSpec::default()), 1);
    lb.spec.lb_driver = "driver".into();
    index.load_balancer(Change::Applied(lb));
    index.record(Change::Applied(record("r", 2)));
    let driver = placed(LoadBalancerDriver::new("driver", Default::default()), 3);
    let work = keys(index.driver(Change::Applied(driver.clone())));
    assert_eq!(
        work,
        [
            "BackendRecord ns/r",
            "LoadBalancer ns/lb",
            "LoadBalancerDriver ns/driver"
        ]
    );
    let mut labelled = driver;
    labelled.metadata.labels = Some(BTreeMap::new());
    labelled.metadata.resource_version = Some("4".into());
    assert_eq!(
        keys(index.driver(Change::Applied(labelled))),
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

/// The units that a group has to look at.
fn pending(index: &mut Index) -> Vec<String> {
    let units = index.take_units(&of_group("web"), 100);
    units.into_iter().collect()
}

#[test]
fn u40_a_pods_change_is_work_on_that_pod_only() {
    let mut index = Index::default();
    index.group(Change::Applied(group("web", &[("app", "web")], 1)));
    for number in 0..5 {
        let name = format!("p{number}");
        index.pod(Change::Applied(pod(&name, &[("app", "web")], 2 + number)));
    }
    assert_eq!(pending(&mut index).len(), 5);
    let mut not_ready = pod("p3", &[("app", "web")], 9);
    not_ready.ready = false;
    index.pod(Change::Applied(not_ready));
    assert_eq!(pending(&mut index), ["p3"]);
    // A changed group is looked at whole, with the pods of records that it no longer selects.
    index.record(Change::Applied(record("r", 10)));
    index.group(Change::Applied(group("web", &[("app", "none")], 11)));
    assert_eq!(pending(&mut index), ["p0"]);
}

#[test]
fn u14_b118_a_service_is_known_by_what_it_says() {
    let mut index = Index::default();
    index.node(Change::Applied(node("n0", "a", 1)));
    index.service(Change::Applied(service(2)));
    index.group(Change::Applied(service_group(&[], 3)));
    assert_eq!(pending(&mut index), ["n0"]);
    assert!(index.service(Change::Applied(service(4))).is_empty());
    let mut moved = service(5);
    moved.ports[0].node_port = 30081;
    let work = index.service(Change::Applied(moved));
    assert_eq!(work, [Work::first(WorkKey::Group(key("web")))]);
    assert_eq!(pending(&mut index), ["n0"]);
    assert_eq!(index.service(Change::Deleted(service(6))).len(), 1);
}

#[test]
fn u15_b22_nodes_concern_the_groups_that_may_take_them() {
    let mut index = Index::default();
    index.service(Change::Applied(service(1)));
    index.group(Change::Applied(service_group(&[("pool", "a")], 2)));
    assert!(index.node(Change::Applied(node("n0", "b", 3))).is_empty());
    assert_eq!(index.node(Change::Applied(node("n0", "a", 4))).len(), 1);
    assert!(
        index.node(Change::Applied(node("n0", "a", 5))).is_empty(),
        "a heartbeat"
    );
    let mut cordoned = node("n0", "a", 6);
    cordoned.usable = false;
    let work = index.node(Change::Applied(cordoned));
    assert_eq!(work, [Work::first(WorkKey::Group(key("web")))]);
    assert_eq!(
        index.node(Change::Applied(node("n0", "b", 7))).len(),
        1,
        "it leaves the group"
    );
}

#[test]
fn u16_where_pods_of_a_local_service_run_is_known() {
    let mut index = Index::default();
    let owner = of_group("web");
    index.group(Change::Applied(service_group(&[], 1)));
    index.pod(Change::Applied(pod("p0", &[("app", "web")], 2)));
    index.service(Change::Applied(service(3)));
    assert!(
        !index.has_available_on(&owner, "n0"),
        "nobody needs to know"
    );
    let mut local = service(4);
    local.is_local = true;
    index.service(Change::Applied(local));
    assert!(index.has_available_on(&owner, "n0"));
    pending(&mut index);
    let mut not_ready = pod("p0", &[("app", "web")], 5);
    not_ready.ready = false;
    let work = index.pod(Change::Applied(not_ready));
    assert_eq!(work, [Work::first(WorkKey::Group(key("web")))]);
    assert_eq!(pending(&mut index), ["n0"], "the node, not the pod");
    assert!(!index.has_available_on(&owner, "n0"));
}

#[test]
fn u17_a_shared_load_balancer_concerns_groups_in_every_namespace() {
    let mut index = Index::default();
    let mut shared = group("web", &[("app", "web")], 1);
    shared.spec.load_balancers = vec!["lbcf-shared".into()];
    index.group(Change::Applied(shared));
    let mut lb = placed(
        LoadBalancer::new("lbcf-shared", LoadBalancerSpec::default()),
        2,
    );
    lb.metadata.namespace = Some("kube-system".into());
    let work = keys(index.load_balancer(Change::Applied(lb)));
    assert!(work.contains(&"BackendGroup ns/web".to_owned()), "{work:?}");
}

#[test]
fn b110_pods_that_are_asked_about_are_there_to_stay_not_available_and_have_records() {
    let mut index = Index::default();
    let owner = of_group("web");
    index.group(Change::Applied(group("web", &[("app", "web")], 1)));
    index.record(Change::Applied(record("r", 2)));
    for name in ["p0", "no-records"] {
        let mut not_ready = pod(name, &[("app", "web")], 3);
        not_ready.ready = false;
        index.pod(Change::Applied(not_ready));
    }
    let unready = |index: &Index| index.unready_pods_of(&owner).len();
    assert_eq!(unready(&index), 1);
    assert_eq!(index.count_pods_of(&owner), 2);
    let mut going = pod("p0", &[("app", "web")], 4);
    going.deleting = true;
    index.pod(Change::Applied(going));
    assert_eq!(unready(&index), 0);
    assert_eq!(index.count_pods_of(&owner), 1);
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
fn u5_each_load_balancer_of_a_bind_has_work_of_its_own() {
    let mut index = Index::default();
    let work = keys(index.bind(Change::Applied(bind(1, |_| {}))));
    assert_eq!(
        work,
        ["Bind ns/bind", "Bind ns/bind (a)", "Bind ns/bind (b)"]
    );
    let driver = placed(LoadBalancerDriver::new("driver", Default::default()), 2);
    let work = keys(index.driver(Change::Applied(driver)));
    assert!(work.contains(&"Bind ns/bind (a)".to_owned()), "{work:?}");
    let mut index = Index::default();
    let unprotected = bind(1, |bind| bind.metadata.finalizers = None);
    let work = keys(index.bind(Change::Applied(unprotected)));
    assert_eq!(
        work,
        ["Bind ns/bind"],
        "nothing is begun without the finalizer"
    );
}

#[test]
fn a_bind_load_balancers_own_status_does_not_wake_it() {
    let mut index = Index::default();
    index.bind(Change::Applied(bind(1, |_| {})));
    let failed = bind(2, |bind| {
        entries(bind)[0].retry_after = Some("2026-01-01T00:00:00Z".into());
    });
    assert_eq!(
        keys(index.bind(Change::Written(failed))),
        Vec::<String>::new()
    );
    let created = bind(3, |bind| {
        entries(bind)[0].conditions = vec![Condition::met(condition_types::CREATED, Some(1))];
    });
    assert_eq!(keys(index.bind(Change::Written(created))), ["Bind ns/bind"]);
    let gone = bind(4, |bind| drop(entries(bind).remove(0)));
    assert_eq!(
        keys(index.bind(Change::Written(gone))),
        ["Bind ns/bind", "Bind ns/bind (a)"],
        "it may be wanted again"
    );
}

#[test]
fn a_binds_records_are_not_those_of_a_load_balancer_of_that_name() {
    let mut index = Index::default();
    let mut of_bind = record("r", 1);
    let owners = of_bind.metadata.owner_references.as_mut().unwrap();
    owners[0].kind = "Bind".into();
    index.record(Change::Applied(of_bind));
    let lb = LoadBalancerOf::LoadBalancer(key("lb"));
    assert_eq!(index.records_of_load_balancer(&lb), 0);
    let lb = LoadBalancerOf::Bind(BindLoadBalancerKey {
        bind: key("web"),
        name: "lb".into(),
    });
    assert_eq!(index.records_of_load_balancer(&lb), 1);
}
