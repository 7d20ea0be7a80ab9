use super::*;
use crate::api::{
    AddressFamily, BackendGroupSpec, Condition, Conditions, DeregisterPolicy, LoadBalancer,
    LoadBalancerSpec, LoadBalancerStatus, ObjectKey, PodSelection, PortSelector, SelectPodByLabel,
    ServiceMode, ServicePortSelector, ServiceSelection, StringMap, condition_types,
};
use crate::backends::{CandidateNode, EndpointCandidates};
use crate::index::{
    Endpoint, EndpointConditions, EndpointCounts, Lookup, NodeView, PodTarget, ServicePortView,
    ServiceView, SliceEndpoint, SlicePort, SliceView, UnusableLoadBalancer, UsableLoadBalancer,
    unit_of,
};
use crate::runtime::verdicts::VerdictOutcome;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::NodeAddress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeSet;

fn group() -> BackendGroup {
    let mut group = BackendGroup::new(
        "web",
        BackendGroupSpec {
            load_balancers: vec!["lb-a".into()],
            pods: Some(PodSelection {
                ports: vec![PortSelector::new(80, Protocol::Tcp)],
                by_label: Some(SelectPodByLabel::default()),
                ..PodSelection::default()
            }),
            parameters: StringMap::from([("weight", "50")]),
            ..BackendGroupSpec::default()
        },
    );
    group.metadata.namespace = Some("ns".into());
    group.metadata.uid = Some("group-uid".into());
    group.metadata.generation = Some(1);
    group
}

fn pod(name: &str) -> PodView {
    PodView {
        key: ObjectKey::new("ns", name),
        uid: format!("uid-{name}"),
        version: 1,
        ip: format!("ip-{name}"),
        ready: true,
        running: true,
        ..PodView::default()
    }
}

fn node(name: &str) -> NodeView {
    NodeView {
        key: ObjectKey::new("", name),
        version: 1,
        labels: BTreeMap::from([("pool".into(), name.into())]),
        addresses: vec![NodeAddress {
            type_: "InternalIP".into(),
            address: format!("ip-{name}"),
        }],
        usable: true,
    }
}

fn usable(id: &str) -> LoadBalancerUse {
    LoadBalancerUse::Usable(UsableLoadBalancer {
        driver: "driver".into(),
        lb_info: StringMap::from([("lbID", id)]),
        attributes: StringMap::default(),
    })
}

struct Case {
    group: BackendGroup,
    load_balancers: BTreeMap<String, LoadBalancerUse>,
    pods: Vec<PodView>,
    verdict: DeregisterVerdict,
    service: Option<ServiceView>,
    /// Nodes, and whether a pod of the service is available on them.
    nodes: Vec<(NodeView, bool)>,
    records: Vec<BackendRecord>,
}

impl Case {
    fn new(pods: &[&str]) -> Self {
        Self {
            group: group(),
            load_balancers: BTreeMap::from([("lb-a".into(), usable("a"))]),
            pods: pods.iter().map(|name| pod(name)).collect(),
            verdict: DeregisterVerdict::default(),
            service: None,
            nodes: Vec::new(),
            records: Vec::new(),
        }
    }

    /// A group on a service's port 80, behind node port 30080 of each node.
    fn of_service(nodes: &[&str]) -> Self {
        let mut case = Self::new(&[]);
        case.group.spec.pods = None;
        case.group.spec.service = Some(ServiceSelection {
            name: "svc".into(),
            port: ServicePortSelector::new(80, Protocol::Tcp),
            ..ServiceSelection::default()
        });
        case.service = Some(ServiceView {
            key: ObjectKey::new("ns", "svc"),
            version: 1,
            is_external_name: false,
            has_node_ports: true,
            ports: vec![ServicePortView {
                name: "http".into(),
                port: 80,
                protocol: "TCP".into(),
                node_port: 30080,
                target_port: Some(8080),
            }],
            selector: BTreeMap::from([("app".into(), "web".into())]),
            is_local: false,
            deleting: false,
            load_balancer: None,
        });
        case.nodes = nodes.iter().map(|name| (node(name), false)).collect();
        case
    }

    /// The same after its plan was executed and every record was registered.
    fn registered(mut self) -> Self {
        let plan = self.plan();
        self.records.extend(plan.create);
        for record in &mut self.records {
            let status = record.status.get_or_insert_default();
            status.conditions = vec![Condition::met(condition_types::REGISTERED, Some(1))];
        }
        self
    }

    fn plan(&self) -> RecordPlan {
        decide(&self.state())
    }

    fn status(&self) -> BackendGroupStatus {
        let counts = OwnerCounts {
            load_balancers: records::usable(&self.load_balancers).count(),
            pods: self.pods.iter().filter(|pod| !pod.deleting).count(),
            records: self.records.len(),
            registered: self.registered_records().count(),
            ..OwnerCounts::default()
        };
        let units = |at_least| {
            let mut units: BTreeMap<&str, usize> = BTreeMap::new();
            for record in self.registered_records() {
                *units.entry(unit_of(record)).or_default() += 1;
            }
            units.values().filter(|count| **count >= at_least).count()
        };
        decide_status(&self.group, &counts, units)
    }

    fn registered_records(&self) -> impl Iterator<Item = &BackendRecord> {
        self.records.iter().filter(|record| {
            record
                .status
                .as_ref()
                .is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED))
        })
    }

    fn state(&self) -> GroupState {
        GroupState {
            group: Arc::new(self.group.clone()),
            load_balancers: self.load_balancers.clone(),
            candidates: self.candidates(),
            records: self.records.iter().cloned().map(Arc::new).collect(),
        }
    }

    fn candidates(&self) -> Candidates {
        let spec = &self.group.spec;
        if spec.pods.is_some() {
            let pods = self.pods.iter().cloned().map(Arc::new).collect();
            Candidates::Pods(pods, Arc::new(self.verdict.clone()))
        } else if spec.service.is_some() {
            let nodes = self.nodes.iter().cloned();
            Candidates::Service(ServiceCandidates::Nodes {
                service: self.service.clone().map(Arc::new),
                nodes: nodes
                    .map(|(node, has_pods)| CandidateNode {
                        node: Arc::new(node),
                        has_pods,
                    })
                    .collect(),
            })
        } else {
            Candidates::Addresses(spec.static_addresses.clone())
        }
    }

    fn pod_mut(&mut self, name: &str) -> &mut PodView {
        self.pods
            .iter_mut()
            .find(|pod| *pod.key.name == *name)
            .unwrap()
    }
}

fn deleted_pods(plan: &RecordPlan) -> Vec<&str> {
    plan.delete
        .iter()
        .map(|record| record.spec.pod_backend.as_ref().unwrap().name.as_str())
        .collect()
}

fn counts(plan: &RecordPlan) -> (usize, usize, usize) {
    (plan.create.len(), plan.update.len(), plan.delete.len())
}

#[test]
fn b31_each_pod_port_and_load_balancer_gets_a_record() {
    let mut case = Case::new(&["p0", "p1"]);
    case.load_balancers.insert("lb-b".into(), usable("b"));
    case.group
        .spec
        .pods
        .as_mut()
        .unwrap()
        .ports
        .push(PortSelector::new(90, Protocol::Udp));
    let plan = case.plan();
    assert_eq!(counts(&plan), (8, 0, 0));
    assert_eq!((case.status().backends, case.status().records), (2, 8));
    let names: BTreeSet<_> = plan
        .create
        .iter()
        .map(|record| &record.metadata.name)
        .collect();
    assert_eq!(names.len(), 8);
}

#[test]
fn b41_b45_b49_b51_a_record_is_named_labelled_and_owned_as_documented() {
    let plan = Case::new(&["p0"]).plan();
    let record = &plan.create[0];
    assert_eq!(
        record.metadata.name.as_deref(),
        Some(crate::api::names::pod_record_name("lb-a", "web", "uid-p0", 80, "TCP").as_str())
    );
    assert_eq!(record.metadata.namespace.as_deref(), Some("ns"));
    let labels = record.metadata.labels.as_ref().unwrap();
    assert_eq!(labels["lbcf.tkestack.io/lb-driver"], "driver");
    assert_eq!(labels["lbcf.tkestack.io/lb-name"], "lb-a");
    assert_eq!(labels["lbcf.tkestack.io/backend-group"], "web");
    assert_eq!(labels["lbcf.tkestack.io/backend-pod"], "p0");
    let owner = &record.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.uid.as_str()),
        ("BackendGroup", "group-uid")
    );
    assert_eq!(
        record.metadata.finalizers.as_deref().unwrap(),
        ["lbcf.tkestack.io/deregister-backend"]
    );
    assert_eq!(record.spec.lb_info["lbID"], "a");
}

#[test]
fn at_rest_the_plan_is_empty() {
    let case = Case::new(&["p0", "p1"]).registered();
    let plan = case.plan();
    assert_eq!(counts(&plan), (0, 0, 0));
    assert_eq!(
        (case.status().backends, case.status().registered_backends),
        (2, 2)
    );
}

#[test]
fn b108_b109_a_pod_that_is_not_ready_is_deregistered_and_the_others_are_kept() {
    let mut case = Case::new(&["p0", "p1"]).registered();
    case.pod_mut("p0").ready = false;
    let plan = case.plan();
    assert_eq!(deleted_pods(&plan), ["p0"]);
    assert_eq!(case.status().backends, 2, "d8: it is still selected");
}

#[test]
fn b109_policy_if_not_running_keeps_running_pods_but_never_terminating_ones() {
    let mut case = Case::new(&["p0", "p1", "p2"]).registered();
    case.group.spec.deregister_policy = Some(DeregisterPolicy::IfNotRunning);
    case.pod_mut("p0").ready = false;
    case.pod_mut("p1").ready = false;
    case.pod_mut("p1").running = false;
    case.pod_mut("p2").deleting = true;
    assert_eq!(deleted_pods(&case.plan()).len(), 2);
    assert!(!deleted_pods(&case.plan()).contains(&"p0"));
    // b110: records are kept, never created.
    case.records.clear();
    assert_eq!(counts(&case.plan()), (0, 0, 0));
}

#[test]
fn b110_policy_webhook_keeps_pods_without_a_verdict() {
    let mut case = Case::new(&["p0"]).registered();
    case.group.spec.deregister_policy = Some(DeregisterPolicy::Webhook);
    case.pod_mut("p0").ready = false;
    assert_eq!(counts(&case.plan()), (0, 0, 0));
    case.pod_mut("p0").deleting = true;
    assert_eq!(counts(&case.plan()), (0, 0, 1));
}

#[test]
fn b113_changed_parameters_update_every_record() {
    let mut case = Case::new(&["p0", "p1"]).registered();
    case.group.spec.parameters = StringMap::from([("weight", "80")]);
    let plan = case.plan();
    assert_eq!(counts(&plan), (0, 2, 0));
    assert_eq!(plan.update[0].1.spec.parameters["weight"], "80");
}

#[test]
fn changed_parameters_reach_records_that_are_kept_too() {
    let mut case = Case::new(&["p0"]).registered();
    case.group.spec.deregister_policy = Some(DeregisterPolicy::IfNotRunning);
    case.pod_mut("p0").ready = false;
    case.group.spec.parameters = StringMap::from([("weight", "0")]);
    assert_eq!(counts(&case.plan()), (0, 1, 0));
}

#[test]
fn u36_changed_attributes_of_the_load_balancer_touch_no_record() {
    let mut case = Case::new(&["p0"]).registered();
    let LoadBalancerUse::Usable(lb) = case.load_balancers.get_mut("lb-a").unwrap() else {
        panic!()
    };
    lb.attributes = StringMap::from([("chargeType", "MONTHLY")]);
    assert_eq!(counts(&case.plan()), (0, 0, 0));
}

#[test]
fn b105_b107_backends_of_an_unusable_load_balancer_are_deregistered() {
    let mut case = Case::new(&["p0"]).registered();
    case.load_balancers.insert(
        "lb-a".into(),
        LoadBalancerUse::Unusable(UnusableLoadBalancer::Deleting),
    );
    assert_eq!(counts(&case.plan()), (0, 0, 1));
}

#[test]
fn u9_backends_of_an_unreadable_load_balancer_are_kept() {
    let mut case = Case::new(&["p0"]).registered();
    case.load_balancers
        .insert("lb-a".into(), LoadBalancerUse::Unknown);
    assert_eq!(counts(&case.plan()), (0, 0, 0));
}

#[test]
fn u13_another_identity_under_the_same_name_deletes_first_and_creates_after_the_removal() {
    let mut case = Case::new(&["p0"]).registered();
    case.load_balancers.insert("lb-a".into(), usable("another"));
    assert_eq!(counts(&case.plan()), (0, 0, 1));
    case.records[0].metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    assert_eq!(counts(&case.plan()), (0, 0, 0), "it is being deleted");
    case.records.clear();
    let plan = case.plan();
    assert_eq!(counts(&plan), (1, 0, 0));
    assert_eq!(plan.create[0].spec.lb_info["lbID"], "another");
}

#[test]
fn a_pod_replaced_by_another_of_its_name_gets_its_own_record() {
    let mut case = Case::new(&["p0"]).registered();
    case.pod_mut("p0").uid = "another-uid".into();
    assert_eq!(counts(&case.plan()), (1, 0, 1));
}

#[test]
fn b106_a_deleted_group_does_nothing() {
    let mut case = Case::new(&["p0"]);
    case.group.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    assert_eq!(counts(&case.plan()), (0, 0, 0));
}

#[test]
fn b110_a_verdict_decides_which_pods_are_kept() {
    let mut case = Case::new(&["p0", "p1", "p2"]).registered();
    case.group.spec.deregister_policy = Some(DeregisterPolicy::Webhook);
    for name in ["p0", "p1"] {
        case.pod_mut(name).ready = false;
    }
    let outcome = VerdictOutcome::Kept(["p0".to_owned()].into());
    case.verdict = DeregisterVerdict::new(&case.pods[..2], outcome);
    assert_eq!(deleted_pods(&case.plan()), ["p1"]);
    // What is not registered is not registered because of a verdict.
    case.records.clear();
    let created = case.plan().create;
    assert_eq!(created.len(), 1);
    assert_eq!(created[0].spec.pod_backend.as_ref().unwrap().name, "p2");
}

#[test]
fn a_pod_with_a_new_address_is_registered_again() {
    let mut case = Case::new(&["p0"]).registered();
    case.pod_mut("p0").ip = "another".into();
    assert_eq!(counts(&case.plan()), (0, 0, 1));
    // d27: the original controller stored no source.
    case.records[0].metadata.annotations = None;
    assert_eq!(counts(&case.plan()), (0, 0, 0));
}

#[test]
fn b46_b49_b112_each_node_and_load_balancer_gets_a_record() {
    let mut case = Case::of_service(&["n0", "n1"]);
    case.load_balancers.insert("lb-b".into(), usable("b"));
    let plan = case.plan();
    assert_eq!(counts(&plan), (4, 0, 0));
    let name = crate::api::names::service_record_name("lb-a", "web", "svc", 80, "TCP", "n0");
    let is_it = |record: &&BackendRecord| record.metadata.name.as_ref() == Some(&name);
    let record = plan.create.iter().find(is_it).unwrap();
    let backend = record.spec.service_backend.as_ref().unwrap();
    assert_eq!(
        (backend.node_port, backend.node_name.as_str()),
        (30080, "n0")
    );
    let labels = record.metadata.labels.as_ref().unwrap();
    assert_eq!(labels["lbcf.tkestack.io/backend-service"], "svc");
    let status = case.registered().status();
    assert_eq!((status.backends, status.registered_backends), (1, 1), "d8");
    assert_eq!((status.records, status.registered_records), (4, 4));
}

#[test]
fn b112_a_service_without_node_ports_has_no_backends() {
    let gone = |change: fn(&mut Case)| {
        let mut case = Case::of_service(&["n0"]).registered();
        change(&mut case);
        counts(&case.plan())
    };
    assert_eq!(gone(|_| {}), (0, 0, 0));
    assert_eq!(gone(|case| case.service = None), (0, 0, 1));
    assert_eq!(
        gone(|case| case.service.as_mut().unwrap().deleting = true),
        (0, 0, 1)
    );
    assert_eq!(
        gone(|case| case.service.as_mut().unwrap().has_node_ports = false),
        (0, 0, 1)
    );
    assert_eq!(
        gone(|case| case.service.as_mut().unwrap().ports[0].node_port = 0),
        (0, 0, 1)
    );
    assert_eq!(
        gone(|case| case.service.as_mut().unwrap().ports[0].protocol = "UDP".into()),
        (0, 0, 1)
    );
}

#[test]
fn u13_a_changed_node_port_or_node_address_moves_the_record() {
    let mut case = Case::of_service(&["n0"]).registered();
    case.service.as_mut().unwrap().ports[0].node_port = 30081;
    assert_eq!(counts(&case.plan()), (0, 0, 1));
    case.records.clear();
    let mut case = case.registered();
    assert_eq!(
        case.records[0]
            .spec
            .service_backend
            .as_ref()
            .unwrap()
            .node_port,
        30081
    );
    case.nodes[0].0.addresses[0].address = "another".into();
    assert_eq!(counts(&case.plan()), (0, 0, 1));
}

#[test]
fn u15_b22_nodes_that_are_unusable_or_not_selected_are_deregistered() {
    let mut case = Case::of_service(&["n0", "n1"]).registered();
    case.nodes[0].0.usable = false;
    assert_eq!(counts(&case.plan()), (0, 0, 1));
    case.nodes[0].0.usable = true;
    let selector = &mut case.group.spec.service.as_mut().unwrap().node_selector;
    selector.insert("pool".into(), "n1".into());
    let plan = case.plan();
    assert_eq!(counts(&plan), (0, 0, 1));
    assert_eq!(unit_of(&plan.delete[0]), "n0");
}

/// A group on a service's endpoints, with one at each address.
fn on_endpoints(addresses: &[&str]) -> (Case, EndpointCandidates) {
    let mut case = Case::of_service(&[]);
    let selection = case.group.spec.service.as_mut().unwrap();
    selection.mode = Some(ServiceMode::Endpoints);
    let slice = Arc::new(SliceView {
        key: ObjectKey::new("ns", "svc-1"),
        version: 1,
        service: Some(ObjectKey::new("ns", "svc")),
        family: AddressFamily::IPv4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: Some(8080),
            protocol: Protocol::Tcp,
            app_protocol: None,
        }],
        endpoints: Vec::new(),
        problems: Vec::new(),
        is_unknown: false,
    });
    let endpoint = |address: &&str| SliceEndpoint {
        awaits_gate: false,
        slice: Arc::clone(&slice),
        endpoint: Endpoint {
            address: (*address).into(),
            conditions: EndpointConditions::default(),
            pod: Some(PodTarget {
                name: format!("pod-{address}").into(),
                uid: format!("uid-{address}").into(),
            }),
            node_name: None,
            zone: None,
            hostname: None,
            for_zones: Box::default(),
        },
    };
    let candidates = EndpointCandidates {
        service: case.service.clone().map(Arc::new),
        endpoints: addresses.iter().map(endpoint).collect(),
        ..EndpointCandidates::default()
    };
    (case, candidates)
}

fn plan_of(case: &Case, candidates: EndpointCandidates) -> RecordPlan {
    let candidates = Candidates::Service(ServiceCandidates::Endpoints(candidates));
    decide(&GroupState {
        candidates,
        ..case.state()
    })
}

#[test]
fn d60_each_endpoint_gets_a_record_and_a_pod_that_takes_its_address_another() {
    let (mut case, candidates) = on_endpoints(&["10.0.0.1", "10.0.0.2"]);
    let plan = plan_of(&case, candidates);
    assert_eq!(counts(&plan), (2, 0, 0));
    // Their unit is the address, not the pod.
    let is_first = |record: &&BackendRecord| unit_of(record) == "10.0.0.1";
    let record = plan.create.iter().find(is_first).unwrap();
    assert_eq!(
        record.spec.pod_backend.as_ref().unwrap().name,
        "pod-10.0.0.1"
    );
    let endpoint = record.spec.endpoint_backend.as_ref().unwrap();
    assert_eq!(
        (endpoint.service.as_str(), endpoint.port.number()),
        ("svc", 8080)
    );
    case.records = plan.create;
    let (_, candidates) = on_endpoints(&["10.0.0.1", "10.0.0.2"]);
    assert_eq!(counts(&plan_of(&case, candidates)), (0, 0, 0));
    let (_, mut candidates) = on_endpoints(&["10.0.0.1", "10.0.0.2"]);
    candidates.endpoints[0].endpoint.pod.as_mut().unwrap().uid = "another".into();
    assert_eq!(counts(&plan_of(&case, candidates)), (1, 0, 1));
    // Nothing is without the service, or its port.
    let (_, mut candidates) = on_endpoints(&["10.0.0.1", "10.0.0.2"]);
    candidates.service = None;
    assert_eq!(counts(&plan_of(&case, candidates)), (0, 0, 2));
}

#[test]
fn d61_the_records_of_an_address_that_is_awaited_stay_at_their_load_balancer() {
    let (mut case, candidates) = on_endpoints(&["10.0.0.1", "10.0.0.2"]);
    case.records = plan_of(&case, candidates).create;
    let awaiting = || {
        let (_, mut candidates) = on_endpoints(&["10.0.0.1"]);
        candidates.awaited.insert("10.0.0.2".into());
        candidates
    };
    assert_eq!(counts(&plan_of(&case, awaiting())), (0, 0, 0));
    let (_, gone) = on_endpoints(&["10.0.0.1"]);
    assert_eq!(counts(&plan_of(&case, gone)), (0, 0, 1));
    case.load_balancers.insert("lb-a".into(), usable("another"));
    assert_eq!(
        counts(&plan_of(&case, awaiting())),
        (0, 0, 2),
        "the first is replaced"
    );
}

#[test]
fn d60_the_status_of_a_group_on_endpoints_counts_addresses() {
    let (case, _) = on_endpoints(&[]);
    let status = |units, endpoints, registered, registered_units: usize| {
        let counts = OwnerCounts {
            load_balancers: 2,
            registered,
            endpoints: EndpointCounts {
                units,
                endpoints,
                unready: 0,
            },
            ..OwnerCounts::default()
        };
        let status = decide_status(&case.group, &counts, |_| registered_units);
        let counts = [status.backends, status.registered_backends];
        (counts, [status.records, status.registered_records])
    };
    assert_eq!(status(0, 0, 0, 0), ([0, 0], [0, 0]));
    assert_eq!(status(3, 3, 4, 2), ([3, 2], [6, 4]));
    assert_eq!(status(3, 3, 6, 3), ([3, 3], [6, 6]));
    // Of two addresses one has two ports: they are done when all records are.
    assert_eq!(status(2, 3, 5, 2), ([2, 1], [6, 5]));
    assert_eq!(status(2, 3, 6, 1), ([2, 2], [6, 6]));
}

#[test]
fn d63_a_node_port_is_selected_by_the_ports_name_as_by_its_number() {
    let mut case = Case::of_service(&["n0"]).registered();
    let port = &mut case.group.spec.service.as_mut().unwrap().port;
    *port = ServicePortSelector::named("http");
    assert_eq!(counts(&case.plan()), (0, 0, 0), "it is the same record");
    let port = &mut case.group.spec.service.as_mut().unwrap().port;
    *port = ServicePortSelector::named("https");
    assert_eq!(counts(&case.plan()), (0, 0, 1));
}

#[test]
fn u16_a_service_that_forwards_only_on_the_node_has_backends_where_its_pods_are() {
    let mut case = Case::of_service(&["n0", "n1"]);
    case.service.as_mut().unwrap().is_local = true;
    assert_eq!(counts(&case.plan()), (0, 0, 0));
    case.nodes[1].1 = true;
    let plan = case.plan();
    assert_eq!(counts(&plan), (1, 0, 0));
    assert_eq!(unit_of(&plan.create[0]), "n1");
    // Without a selector its pods are unknown.
    case.service.as_mut().unwrap().selector.clear();
    assert_eq!(counts(&case.plan()), (2, 0, 0));
}

#[test]
fn b26_b47_d17_each_address_gets_a_record_at_each_load_balancer() {
    let mut case = Case::new(&[]);
    case.load_balancers.insert("lb-b".into(), usable("b"));
    case.group.spec.pods = None;
    case.group.spec.static_addresses = ["1.1.1.1:8080", "my-web.com:8080", "1.1.1.1:8080", ""]
        .map(str::to_owned)
        .to_vec();
    let plan = case.plan();
    assert_eq!(counts(&plan), (4, 0, 0));
    assert_eq!((case.status().backends, case.status().records), (2, 4));
    let name = crate::api::names::static_record_name("lb-a", "web", "1.1.1.1:8080");
    let is_it = |record: &&BackendRecord| record.metadata.name.as_ref() == Some(&name);
    let record = plan.create.iter().find(is_it).unwrap();
    assert_eq!(record.spec.static_addr.as_deref(), Some("1.1.1.1:8080"));
    let labels = record.metadata.labels.as_ref().unwrap();
    assert_eq!(
        labels["lbcf.tkestack.io/backend-static-addr"],
        "1.1.1.1_8080"
    );
    let mut case = case.registered();
    assert_eq!(case.status().registered_backends, 2);
    case.group.spec.static_addresses.truncate(1);
    let plan = case.plan();
    assert_eq!(counts(&plan), (0, 0, 2));
    assert_eq!(
        (case.status().backends, case.status().registered_backends),
        (1, 1)
    );
}

#[test]
fn b21_a_group_with_nothing_has_no_addresses() {
    let mut case = Case::new(&["p0"]).registered();
    case.group.spec.pods = None;
    assert_eq!(counts(&case.plan()), (0, 0, 1));
}

#[test]
fn b20_b23_the_earlier_editions_fields_work() {
    let mut case = Case::new(&["p0"]);
    case.group.spec.load_balancers.clear();
    case.group.spec.lb_name = Some("lb-a".into());
    let pods = case.group.spec.pods.as_mut().unwrap();
    pods.ports.clear();
    pods.port = Some(PortSelector {
        port_number: Some(8080),
        ..PortSelector::default()
    });
    assert_eq!(
        case.group.spec.load_balancer_names().collect::<Vec<_>>(),
        ["lb-a"]
    );
    let plan = case.plan();
    assert_eq!(
        plan.create[0].spec.pod_backend.as_ref().unwrap().port,
        PortSelector::new(8080, Protocol::Tcp)
    );
}

#[test]
fn d8_b29_b30_a_backend_counts_when_all_its_records_are_registered() {
    let mut case = Case::new(&["p0", "p1"]);
    case.group
        .spec
        .pods
        .as_mut()
        .unwrap()
        .ports
        .push(PortSelector::new(90, Protocol::Tcp));
    let mut case = case.registered();
    case.records[0].status = None;
    let status = case.status();
    assert_eq!((status.backends, status.registered_backends), (2, 1));
    assert_eq!((status.records, status.registered_records), (4, 3));
}

#[test]
fn b56_scope_decides_which_namespaces_may_use_a_load_balancer() {
    let mut lb = LoadBalancer::new("lbcf-shared", LoadBalancerSpec::default());
    lb.metadata.namespace = Some("kube-system".into());
    lb.status = Some(LoadBalancerStatus {
        conditions: vec![Condition::met(condition_types::CREATED, None)],
        ..LoadBalancerStatus::default()
    });
    let mut is_usable = |scope: &[&str], namespace: &str| {
        lb.spec.scope = scope.iter().map(|&scope| scope.to_owned()).collect();
        let state = LoadBalancerUse::of(&Lookup::Found(Arc::new(lb.clone())), namespace);
        matches!(state, LoadBalancerUse::Usable(_))
    };
    assert!(is_usable(&[], "kube-system"));
    assert!(!is_usable(&[], "ns-a"));
    assert!(is_usable(&["ns-a"], "ns-a"));
    assert!(!is_usable(&["ns-a"], "kube-system"));
    assert!(is_usable(&["*"], "anywhere"));
}
