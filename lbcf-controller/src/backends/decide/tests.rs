//! The cases hold for both kinds of owners unless they say otherwise.

use super::*;
use crate::api::names::OwnerName;
use crate::api::{
    AddressFamily, BackendGroup, Bind, Condition, Conditions, ObjectKey, ServiceMode, StringMap,
    condition_types, names,
};
use crate::backends::counts::{BackendCounts, OwnerCounts, count};
use crate::index::{
    Endpoint, EndpointConditions, EndpointCounts, Lookup, NodeView, PodTarget, SliceEndpoint,
    SlicePort, SliceView, Unit, UnusableLoadBalancer,
};
use crate::runtime::verdicts::VerdictOutcome;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::NodeAddress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::Protocol;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Group,
    Bind,
}
use Kind::{Bind as ABind, Group as AGroup};

const BOTH: [Kind; 2] = [AGroup, ABind];

/// An owner in the namespace ns on pods with port 80, what it depends on, and its records.
#[derive(Clone)]
struct Case {
    kind: Kind,
    /// Its metadata and spec.
    object: Value,
    load_balancers: BTreeMap<String, LoadBalancerUse>,
    pods: Vec<PodView>,
    verdict: DeregisterVerdict,
    service: Option<ServiceView>,
    /// Nodes, and whether a pod of the service is available on them.
    nodes: Vec<(NodeView, bool)>,
    endpoints: Vec<SliceEndpoint>,
    awaited: BTreeSet<Unit>,
    records: Vec<BackendRecord>,
    revocable: BTreeSet<String>,
}

fn usable_lb(id: &str) -> LoadBalancerUse {
    LoadBalancerUse::Usable(UsableLoadBalancer {
        driver: "driver".into(),
        lb_info: StringMap::from([("lbID", id)]),
        attributes: StringMap::from([("payment", "by-hour")]),
    })
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

/// An endpoint that is a pod.
fn endpoint(address: &str) -> SliceEndpoint {
    let slice = SliceView {
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
    };
    SliceEndpoint {
        awaits_gate: false,
        slice: Arc::new(slice),
        endpoint: Endpoint {
            address: address.into(),
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
    }
}

impl Case {
    /// An owner of these pods.
    fn new(kind: Kind, pods: &[&str]) -> Self {
        let object = json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": "owner-uid", "generation": 1},
            "spec": {
                "loadBalancers": [],
                "pods": {"ports": [{"port": 80, "protocol": "TCP"}], "byLabel": {"selector": {}}},
                "parameters": {"weight": "50"},
            },
        });
        Self {
            kind,
            object,
            load_balancers: BTreeMap::from([("lb-a".into(), usable_lb("a"))]),
            pods: pods.iter().map(|name| pod(name)).collect(),
            verdict: DeregisterVerdict::default(),
            service: None,
            nodes: Vec::new(),
            endpoints: Vec::new(),
            awaited: BTreeSet::new(),
            records: Vec::new(),
            revocable: BTreeSet::new(),
        }
    }

    /// An owner on port 80 of a Service.
    fn of_service(kind: Kind, mode: &str) -> Self {
        let mut case = Self::new(kind, &[]);
        case.set(json!({
            "pods": null,
            "service": {"name": "svc", "mode": mode, "port": {"port": 80}},
        }));
        let service = json!({
            "metadata": {"name": "svc", "namespace": "ns"},
            "spec": {
                "type": "NodePort", "selector": {"app": "web"},
                "ports": [{"name": "http", "port": 80, "nodePort": 30080, "targetPort": 8080}],
            },
        });
        case.service = Some(ServiceView::of(&serde_json::from_value(service).unwrap()));
        case
    }

    fn on_nodes(kind: Kind, nodes: &[&str]) -> Self {
        let mut case = Self::of_service(kind, "NodePort");
        case.nodes = nodes.iter().map(|name| (node(name), false)).collect();
        case
    }

    fn on_endpoints(kind: Kind, addresses: &[&str]) -> Self {
        let mut case = Self::of_service(kind, "Endpoints");
        case.endpoints = addresses.iter().map(|address| endpoint(address)).collect();
        case
    }

    fn of_addresses(addresses: &[&str]) -> Self {
        let mut case = Self::new(AGroup, &[]);
        case.set(json!({"pods": null, "static": addresses}));
        case
    }

    /// Changes the spec.
    fn set(&mut self, spec: Value) {
        json_patch::merge(&mut self.object["spec"], &spec);
    }

    fn deleted(mut self) -> Self {
        self.object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        self
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

    fn owner(&self) -> Owner {
        let key = ObjectKey::new("ns", "web");
        match self.kind {
            AGroup => Owner::Group(key),
            ABind => Owner::Bind(key),
        }
    }

    fn object(&self) -> Arc<dyn BackendOwner> {
        let mut object = self.object.clone();
        match self.kind {
            AGroup => {
                object["apiVersion"] = json!("lbcf.tkestack.io/v1beta1");
                object["kind"] = json!("BackendGroup");
                Arc::new(serde_json::from_value::<BackendGroup>(object).unwrap())
            }
            ABind => {
                object["apiVersion"] = json!("lbcf.tkestack.io/v1");
                object["kind"] = json!("Bind");
                Arc::new(serde_json::from_value::<Bind>(object).unwrap())
            }
        }
    }

    fn plan(&self) -> RecordPlan {
        let object = self.object();
        let candidates = match (object.pods(), object.service().map(|it| it.mode())) {
            (Some(_), _) => {
                let pods = self.pods.iter().cloned().map(Arc::new).collect();
                Candidates::Pods(pods, Arc::new(self.verdict.clone()))
            }
            (None, Some(ServiceMode::NodePort)) => {
                let nodes = self
                    .nodes
                    .iter()
                    .cloned()
                    .map(|(node, has_pods)| CandidateNode {
                        node: Arc::new(node),
                        has_pods,
                    });
                Candidates::Nodes(self.service.clone().map(Arc::new), nodes.collect())
            }
            (None, Some(ServiceMode::Endpoints)) => Candidates::Endpoints(EndpointCandidates {
                service: self.service.clone().map(Arc::new),
                endpoints: self.endpoints.clone(),
                awaited: self.awaited.clone(),
                ..EndpointCandidates::default()
            }),
            (None, None) => Candidates::Addresses(object.static_addresses().to_vec()),
        };
        decide(&BackendsState {
            owner: self.owner(),
            object,
            load_balancers: self.load_balancers.clone(),
            candidates,
            records: self.records.iter().cloned().map(Arc::new).collect(),
            foreign: BTreeSet::new(),
            revocable: self.revocable.clone(),
        })
    }

    /// The numbers of records that are created, updated, and deleted for whatever reason.
    fn counts(&self) -> [usize; 3] {
        let plan = self.plan();
        let deleted = plan.delete.len() + plan.unready.len();
        [plan.create.len(), plan.update.len(), deleted]
    }

    fn deleted_pods(&self) -> Vec<String> {
        let plan = self.plan();
        let unready = plan.unready.into_iter().map(|(record, _)| record);
        let deleted = plan.delete.into_iter().chain(unready);
        let pod = |record: Arc<BackendRecord>| record.spec.pod_backend.clone().unwrap().name;
        deleted.map(pod).collect()
    }

    /// Backends, registered ones, records and registered records.
    fn status(&self) -> [usize; 4] {
        let is_registered = |record: &&BackendRecord| {
            let status = record.status.as_ref();
            status.is_some_and(|it| it.conditions.is_true(condition_types::REGISTERED))
        };
        let registered = || self.records.iter().filter(is_registered);
        let known = OwnerCounts {
            load_balancers: usable(&self.load_balancers).count(),
            pods: self.pods.iter().filter(|pod| !pod.deleting).count(),
            records: self.records.len(),
            registered: registered().count(),
            ..OwnerCounts::default()
        };
        self.count(&known, |at_least| {
            let mut units: BTreeMap<&str, usize> = BTreeMap::new();
            for record in registered() {
                *units.entry(unit_of(record)).or_default() += 1;
            }
            units.values().filter(|count| **count >= at_least).count()
        })
    }

    fn count(&self, known: &OwnerCounts, units: impl Fn(usize) -> usize) -> [usize; 4] {
        let counts = count(&self.owner(), &*self.object(), known, units);
        let BackendCounts {
            backends,
            registered,
            records,
            registered_records,
        } = counts;
        [backends, registered, records, registered_records]
    }
}

fn labels(record: &BackendRecord, expected: &[(&str, &str)]) {
    for (label, value) in expected {
        assert_eq!(record.labels()[*label], *value);
    }
}

fn find<'a>(records: &'a [BackendRecord], name: &str) -> &'a BackendRecord {
    let found = records.iter().find(|it| it.name_any() == name);
    found.expect("a record of this name")
}

#[test]
fn b31_b35_each_pod_port_and_load_balancer_gets_a_record_once() {
    for kind in BOTH {
        let mut case = Case::new(kind, &["p0", "p1"]);
        case.load_balancers.insert("lb-b".into(), usable_lb("b"));
        let ports = json!([
            {"port": 80, "protocol": "tcp"}, {"port": 80, "protocol": "UDP"}, {"port": 80},
        ]);
        case.set(json!({"pods": {"ports": ports}}));
        let plan = case.plan();
        assert_eq!(case.counts(), [8, 0, 0], "{kind:?}: tcp and TCP are one");
        assert_eq!(case.status(), [2, 0, 8, 0], "{kind:?}");
        let names: BTreeSet<_> = plan.create.iter().map(|it| it.name_any()).collect();
        assert_eq!(names.len(), 8);
        // At rest nothing is left to do.
        let case = case.registered();
        assert_eq!(case.counts(), [0, 0, 0], "{kind:?}");
        assert_eq!(case.status(), [2, 2, 8, 8], "{kind:?}");
    }
}

#[test]
fn b34_b41_b45_b48_b49_b51_b52_a_record_is_named_labelled_and_owned_as_documented() {
    let group = names::pod_record_name("lb-a", "web", "uid-p0", 80, "TCP");
    let [bind, _] = names::bind_record_names("web", "lb-a", "p0", "ip-p0", "tcp", 80);
    let of_group = [
        ("lbcf.tkestack.io/lb-driver", "driver"),
        ("lbcf.tkestack.io/lb-name", "lb-a"),
        ("lbcf.tkestack.io/backend-group", "web"),
        ("lbcf.tkestack.io/backend-pod", "p0"),
    ];
    let of_bind = [
        ("lbcf.tkestack.io/driver", "driver"),
        ("lbcf.tkestack.io/lb", "lb-a"),
        ("lbcf.tkestack.io/bind", "web"),
        ("lbcf.tkestack.io/pod", "p0"),
    ];
    for (kind, name, expected, protocol, owner) in [
        (
            AGroup,
            group,
            of_group,
            "TCP",
            ["lbcf.tkestack.io/v1beta1", "BackendGroup"],
        ),
        // As it is written.
        (ABind, bind, of_bind, "tcp", ["lbcf.tkestack.io/v1", "Bind"]),
    ] {
        let mut case = Case::new(kind, &["p0"]);
        case.set(json!({"pods": {"ports": [{"port": 80, "protocol": "tcp"}]}}));
        let record = case.plan().create.remove(0);
        assert_eq!(record.name_any(), name);
        assert_eq!(record.namespace().as_deref(), Some("ns"));
        labels(&record, &expected);
        let [api_version, of_kind] = owner;
        let owner = &record.owner_references()[0];
        assert_eq!((&*owner.api_version, &*owner.kind), (api_version, of_kind));
        assert_eq!((&*owner.uid, owner.controller), ("owner-uid", Some(true)));
        assert_eq!(record.finalizers(), ["lbcf.tkestack.io/deregister-backend"]);
        assert_eq!(record.spec.lb_info["lbID"], "a");
        assert_eq!(record.spec.lb_attributes["payment"], "by-hour");
        assert_eq!(record.spec.parameters["weight"], "50");
        let pod = record.spec.pod_backend.unwrap();
        assert_eq!(pod.port.protocol.as_deref(), Some(protocol));
    }
}

/// What is deleted of an owner of the pods p0, which is as given, and p1, which is available.
#[test]
fn b108_b109_b110_d16_the_policy_decides_about_a_pod_that_is_not_available() {
    let not_ready = || PodView {
        ready: false,
        ..pod("p0")
    };
    let failed = || PodView {
        running: false,
        ..not_ready()
    };
    let deleting = |pod| PodView {
        deleting: true,
        ..pod
    };
    let judged = |kept: &[&str]| {
        let kept = kept.iter().map(|&name| name.to_owned()).collect();
        DeregisterVerdict::new([&not_ready()], VerdictOutcome::Kept(kept))
    };
    let unasked = DeregisterVerdict::default;
    for (policy, pod, verdict, is_deleted) in [
        (None, not_ready(), unasked(), true),
        (Some("IfNotReady"), not_ready(), unasked(), true),
        (Some("IfNotRunning"), not_ready(), unasked(), false),
        (Some("IfNotRunning"), failed(), unasked(), true),
        (Some("IfNotRunning"), deleting(pod("p0")), unasked(), true),
        (Some("Webhook"), not_ready(), unasked(), false),
        (Some("Webhook"), deleting(not_ready()), unasked(), true),
        (Some("Webhook"), not_ready(), judged(&["p0"]), false),
        (Some("Webhook"), not_ready(), judged(&[]), true),
    ] {
        for kind in BOTH {
            let mut case = Case::new(kind, &["p0", "p1"]).registered();
            if let Some(policy) = policy {
                case.set(json!({ "deregisterPolicy": policy }));
            }
            case.pods[0] = pod.clone();
            case.verdict = verdict.clone();
            let expected = if is_deleted { &["p0"][..] } else { &[] };
            assert_eq!(case.deleted_pods(), expected, "{kind:?} {policy:?} {pod:?}");
            let selected = 2 - usize::from(pod.deleting);
            assert_eq!(case.status()[0], selected, "d8: it is still selected");
            // Changed parameters reach records that are kept, too.
            case.set(json!({"parameters": {"weight": "0"}}));
            let [kept, gone] = if is_deleted { [1, 1] } else { [2, 0] };
            assert_eq!(case.counts(), [0, kept, gone], "{kind:?} {policy:?}");
            // What is not registered is not registered because of a policy.
            case.records.clear();
            assert_eq!(case.counts(), [1, 0, 0], "{kind:?} {policy:?}");
        }
    }
}

/// What happens to the one record of an owner after a change of what it depends on.
#[test]
fn b21_b105_b106_b107_b113_b133_u6_u9_u13_u36_d27_a_change_updates_or_replaces_a_record() {
    type Change = fn(&mut Case);
    let same_for_both = |counts| [counts; 2];
    let rows: &[(&str, Change, [[usize; 3]; 2])] = &[
        ("none", |_| {}, same_for_both([0, 0, 0])),
        (
            "b113: parameters",
            |case| case.set(json!({"parameters": {"weight": "80"}})),
            same_for_both([0, 1, 0]),
        ),
        (
            "b113: the policy of ensuring",
            |case| case.set(json!({"ensurePolicy": {"policy": "Always"}})),
            same_for_both([0, 1, 0]),
        ),
        (
            "u36: attributes of the load balancer",
            |case| {
                let Some(LoadBalancerUse::Usable(lb)) = case.load_balancers.get_mut("lb-a") else {
                    panic!()
                };
                lb.attributes = StringMap::from([("payment", "by-month")]);
            },
            same_for_both([0, 0, 0]),
        ),
        (
            "b105, b107, b132: the load balancer cannot be used",
            |case| {
                let unusable = LoadBalancerUse::Unusable(UnusableLoadBalancer::Deleting);
                case.load_balancers.insert("lb-a".into(), unusable);
            },
            same_for_both([0, 0, 1]),
        ),
        (
            "b132: the load balancer left the spec",
            |case| case.load_balancers.clear(),
            same_for_both([0, 0, 1]),
        ),
        (
            "u9: the load balancer cannot be parsed",
            |case| {
                drop(
                    case.load_balancers
                        .insert("lb-a".into(), LoadBalancerUse::Unknown),
                );
            },
            same_for_both([0, 0, 0]),
        ),
        (
            "u13: another load balancer has its name, which waits until the record is gone",
            |case| {
                drop(
                    case.load_balancers
                        .insert("lb-a".into(), usable_lb("another")),
                );
            },
            same_for_both([0, 0, 1]),
        ),
        (
            "its record is being deleted",
            |case| {
                case.load_balancers
                    .insert("lb-a".into(), usable_lb("another"));
                case.records[0].metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
            },
            same_for_both([0, 0, 0]),
        ),
        (
            "its record is gone",
            |case| {
                case.load_balancers
                    .insert("lb-a".into(), usable_lb("another"));
                case.records.clear();
            },
            same_for_both([1, 0, 0]),
        ),
        (
            "u13: a pod has another address, which names a Bind's record",
            |case| case.pods[0].ip = "another".into(),
            [[0, 0, 1], [1, 0, 1]],
        ),
        (
            "d27: the original controller stored no source",
            |case| {
                case.pods[0].ip = "another".into();
                case.records[0].metadata.annotations = None;
            },
            [[0, 0, 0], [1, 0, 1]],
        ),
        (
            "another pod has the name, which names a Bind's record",
            |case| case.pods[0].uid = "another".into(),
            [[1, 0, 1], [0, 0, 0]],
        ),
        (
            "b21: no pods are selected any more",
            |case| case.set(json!({"pods": null})),
            same_for_both([0, 0, 1]),
        ),
        (
            "b106, b133: the garbage collector deletes a group's records, a Bind its own",
            |case| *case = case.clone().deleted(),
            [[0, 0, 0], [0, 0, 1]],
        ),
    ];
    for (what, change, expected) in rows {
        for (kind, expected) in BOTH.into_iter().zip(expected) {
            let mut case = Case::new(kind, &["p0"]).registered();
            change(&mut case);
            assert_eq!(case.counts(), *expected, "{kind:?}, {what}");
        }
    }
    let deleted = Case::new(AGroup, &["p0"]).deleted();
    assert_eq!(deleted.counts(), [0, 0, 0], "b106");
}

#[test]
fn u21_a_binds_record_under_its_other_name_is_the_same() {
    let case = Case::new(ABind, &["p0"]).registered();
    let plan = Case::new(ABind, &["p0"]).plan();
    let names = names::bind_record_names("web", "lb-a", "p0", "ip-p0", "TCP", 80);
    assert_eq!(plan.other_names[&names[0]], names[1]);
    let mut renamed = case;
    renamed.records[0].metadata.name = Some(names[1].clone());
    assert_eq!(renamed.counts(), [0, 0, 0]);
}

#[test]
fn b46_b49_b112_d77_each_node_and_load_balancer_gets_a_record() {
    let group = OwnerName::Group("web").service_record("lb-a", "svc", (80, "TCP"), "n0");
    let bind = OwnerName::Bind("web").service_record("lb-a", "svc", (80, "TCP"), "n0");
    for (kind, name) in [(AGroup, group), (ABind, bind)] {
        let mut case = Case::on_nodes(kind, &["n0", "n1"]);
        case.load_balancers.insert("lb-b".into(), usable_lb("b"));
        let plan = case.plan();
        assert_eq!(case.counts(), [4, 0, 0]);
        let record = find(&plan.create, &name);
        let backend = record.spec.service_backend.as_ref().unwrap();
        assert_eq!((backend.node_port, &*backend.node_name), (30080, "n0"));
        assert_eq!((unit_of(record), &*record.spec.lb_name), ("n0", "lb-a"));
        labels(record, &[("lbcf.tkestack.io/backend-service", "svc")]);
        let mut case = case.registered();
        assert_eq!(case.status(), [1, 1, 4, 4], "d8: all nodes are one backend");
        assert_eq!(case.counts(), [0, 0, 0]);
        case.nodes.pop();
        assert_eq!(case.counts(), [0, 0, 2]);
    }
}

#[test]
fn b22_b112_u13_u15_u16_d63_what_keeps_a_node_registered() {
    type Change = fn(&mut Case);
    fn service(case: &mut Case) -> &mut ServiceView {
        case.service.as_mut().unwrap()
    }
    let gone = [0, 0, 1];
    let rows: &[(&str, Change, [usize; 3])] = &[
        ("no change", |_| {}, [0, 0, 0]),
        ("no service", |case| case.service = None, gone),
        ("deleted", |case| service(case).deleting = true, gone),
        (
            "no node ports",
            |case| service(case).has_node_ports = false,
            gone,
        ),
        (
            "no node port",
            |case| service(case).ports[0].node_port = 0,
            gone,
        ),
        (
            "protocol",
            |case| service(case).ports[0].protocol = "UDP".into(),
            gone,
        ),
        (
            "u13: another node port",
            |case| service(case).ports[0].node_port = 30081,
            gone,
        ),
        (
            "u13: another address of the node",
            |case| case.nodes[0].0.addresses[0].address = "another".into(),
            gone,
        ),
        (
            "u15: an unusable node",
            |case| case.nodes[0].0.usable = false,
            gone,
        ),
        (
            "b22: not selected",
            |case| case.set(json!({"service": {"nodeSelector": {"pool": "n1"}}})),
            gone,
        ),
        (
            "b22: selected",
            |case| case.set(json!({"service": {"nodeSelector": {"pool": "n0"}}})),
            [0, 0, 0],
        ),
        (
            "d63: the port's name, which is the same record",
            |case| case.set(json!({"service": {"port": {"port": null, "name": "http"}}})),
            [0, 0, 0],
        ),
        (
            "d63: another port's name",
            |case| case.set(json!({"service": {"port": {"port": null, "name": "https"}}})),
            gone,
        ),
        (
            "u16: without pods there",
            |case| service(case).is_local = true,
            gone,
        ),
        (
            "u16: with pods there",
            |case| {
                service(case).is_local = true;
                case.nodes[0].1 = true;
            },
            [0, 0, 0],
        ),
        (
            "u16: without a selector its pods are unknown",
            |case| {
                service(case).is_local = true;
                service(case).selector.clear();
            },
            [0, 0, 0],
        ),
    ];
    for (what, change, expected) in rows {
        for kind in BOTH {
            let mut case = Case::on_nodes(kind, &["n0"]).registered();
            change(&mut case);
            assert_eq!(case.counts(), *expected, "{kind:?}, {what}");
        }
    }
}

#[test]
fn d60_d77_each_endpoint_gets_a_record_and_a_pod_that_takes_its_address_another() {
    let (uid, address) = ("uid-10.0.0.1", "10.0.0.1");
    let [group, bind] = [OwnerName::Group("web"), OwnerName::Bind("web")]
        .map(|owner| owner.endpoint_record("lb-a", "svc", uid, address, (8080, "TCP")));
    for (kind, name, pod_label) in [
        (AGroup, group, "lbcf.tkestack.io/backend-pod"),
        (ABind, bind, "lbcf.tkestack.io/pod"),
    ] {
        let case = Case::on_endpoints(kind, &["10.0.0.1", "10.0.0.2"]);
        let plan = case.plan();
        assert_eq!(case.counts(), [2, 0, 0]);
        let record = find(&plan.create, &name);
        assert_eq!(unit_of(record), "10.0.0.1", "not the pod");
        assert_eq!(
            record.spec.pod_backend.as_ref().unwrap().name,
            "pod-10.0.0.1"
        );
        let service = ("lbcf.tkestack.io/backend-service", "svc");
        labels(record, &[service, (pod_label, "pod-10.0.0.1")]);
        let backend = record.spec.endpoint_backend.as_ref().unwrap();
        assert_eq!((&*backend.service, backend.port.number()), ("svc", 8080));
        let case = case.registered();
        assert_eq!(case.counts(), [0, 0, 0]);
        let mut replaced = case.clone();
        replaced.endpoints[0].endpoint.pod.as_mut().unwrap().uid = "another".into();
        assert_eq!(replaced.counts(), [1, 0, 1]);
        let mut without = case;
        without.service = None;
        assert_eq!(without.counts(), [0, 0, 2]);
    }
}

#[test]
fn d61_d77_the_records_of_an_address_that_is_awaited_stay_at_their_load_balancer() {
    for (kind, deleted) in [(AGroup, [0, 0, 0]), (ABind, [0, 0, 2])] {
        let mut case = Case::on_endpoints(kind, &["10.0.0.1", "10.0.0.2"]).registered();
        case.endpoints.pop();
        assert_eq!(case.counts(), [0, 0, 1], "it is not awaited");
        case.awaited.insert("10.0.0.2".into());
        assert_eq!(case.counts(), [0, 0, 0]);
        assert_eq!(case.clone().deleted().counts(), deleted);
        case.load_balancers
            .insert("lb-a".into(), usable_lb("another"));
        assert_eq!(case.counts(), [0, 0, 2], "the first is replaced");
    }
}

#[test]
fn d78_another_source_replaces_all_records() {
    for kind in BOTH {
        let sources = [
            Case::new(kind, &["p0"]),
            Case::on_nodes(kind, &["n0"]),
            Case::on_endpoints(kind, &["10.0.0.1"]),
        ];
        for (i, old) in sources.iter().enumerate() {
            for (j, new) in sources.iter().enumerate() {
                let changed = Case {
                    records: old.clone().registered().records,
                    ..new.clone()
                };
                let expected = if i == j { [0, 0, 0] } else { [1, 0, 1] };
                assert_eq!(changed.counts(), expected, "{kind:?}, {i} to {j}");
            }
        }
    }
}

#[test]
fn b26_b47_d17_each_address_gets_a_record_at_each_load_balancer() {
    let addresses = ["1.1.1.1:8080", "my-web.com:8080", "1.1.1.1:8080", ""];
    let mut case = Case::of_addresses(&addresses);
    case.load_balancers.insert("lb-b".into(), usable_lb("b"));
    let plan = case.plan();
    assert_eq!(case.counts(), [4, 0, 0]);
    assert_eq!(case.status(), [2, 0, 4, 0]);
    let name = names::static_record_name("lb-a", "web", "1.1.1.1:8080");
    let record = find(&plan.create, &name);
    assert_eq!(record.spec.static_addr.as_deref(), Some("1.1.1.1:8080"));
    labels(
        record,
        &[("lbcf.tkestack.io/backend-static-addr", "1.1.1.1_8080")],
    );
    let mut case = case.registered();
    assert_eq!(case.status(), [2, 2, 4, 4]);
    case.set(json!({"static": ["1.1.1.1:8080"]}));
    assert_eq!(case.counts(), [0, 0, 2]);
    assert_eq!(case.status()[..2], [1, 1]);
}

#[test]
fn b20_b23_the_earlier_editions_fields_work() {
    let port = json!({"portNumber": 8080});
    let earlier =
        json!({"loadBalancers": null, "lbName": "lb-a", "pods": {"ports": null, "port": port}});
    let mut case = Case::new(AGroup, &["p0"]);
    case.set(earlier);
    let backend = case.plan().create.remove(0).spec.pod_backend.unwrap();
    assert_eq!(backend.port.number(), 8080);
    let spec: crate::api::BackendGroupSpec =
        serde_json::from_value(case.object["spec"].clone()).unwrap();
    assert_eq!(spec.load_balancer_names().collect::<Vec<_>>(), ["lb-a"]);
}

#[test]
fn d8_b29_b30_a_backend_counts_when_all_its_records_are_registered() {
    for kind in BOTH {
        let mut case = Case::new(kind, &["p0", "p1"]);
        case.set(json!({"pods": {"ports": [{"port": 80}, {"port": 90}]}}));
        let mut case = case.registered();
        assert_eq!(case.status(), [2, 2, 4, 4]);
        case.records[0].status = None;
        assert_eq!(case.status(), [2, 1, 4, 3]);
        case.load_balancers.clear();
        assert_eq!(case.status(), [2, 0, 0, 3]);
    }
}

#[test]
fn d8_d60_the_status_of_an_owner_on_endpoints_counts_addresses() {
    for kind in BOTH {
        let case = Case::on_endpoints(kind, &[]);
        let status = |units, endpoints, registered, registered_units: usize| {
            let known = OwnerCounts {
                load_balancers: 2,
                registered,
                endpoints: EndpointCounts {
                    units,
                    endpoints,
                    unready: 0,
                },
                ..OwnerCounts::default()
            };
            case.count(&known, |_| registered_units)
        };
        assert_eq!(status(0, 0, 0, 0), [0, 0, 0, 0]);
        assert_eq!(status(3, 3, 4, 2), [3, 2, 6, 4]);
        assert_eq!(status(3, 3, 6, 3), [3, 3, 6, 6]);
        // Of two addresses one has two ports: they are done when all records are.
        assert_eq!(status(2, 3, 5, 2), [2, 1, 6, 5]);
        assert_eq!(status(2, 3, 6, 1), [2, 2, 6, 6]);
    }
}

#[test]
fn b56_scope_decides_which_namespaces_may_use_a_load_balancer() {
    let is_usable = |scope: &[&str], namespace: &str| {
        let lb = json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "LoadBalancer",
            "metadata": {"name": "lbcf-shared", "namespace": "kube-system"},
            "spec": {"lbDriver": "lbcf-d", "lbSpec": {}, "scope": scope},
            "status": {"lbInfo": {}, "conditions": [{"type": "Created", "status": "True"}]},
        });
        let lb = Lookup::Found(Arc::new(serde_json::from_value(lb).unwrap()));
        matches!(
            LoadBalancerUse::of(&lb, namespace),
            LoadBalancerUse::Usable(_)
        )
    };
    assert!(is_usable(&[], "kube-system"));
    assert!(!is_usable(&[], "ns-a"));
    assert!(is_usable(&["ns-a"], "ns-a"));
    assert!(!is_usable(&["ns-a"], "kube-system"));
    assert!(is_usable(&["*"], "anywhere"));
}

#[test]
fn d96_a_backend_that_is_deregistered_and_wanted_again_gets_its_other_record() {
    for kind in BOTH {
        let mut case = Case::new(kind, &["p0"]).registered();
        let first = case.records[0].name_any();
        let deleted = Some(Time(Timestamp::UNIX_EPOCH));
        case.records[0].metadata.deletion_timestamp = deleted.clone();
        assert_eq!(case.counts(), [0, 0, 0], "the driver cannot cancel");
        case.revocable = BTreeSet::from([first.clone()]);
        let created = case.plan().create;
        assert_eq!(created.len(), 1);
        let other = created[0].name_any();
        assert_ne!(other, first);
        assert_eq!(created[0].spec, case.records[0].spec);
        let mut case = case.registered();
        assert_eq!(case.counts(), [0, 0, 0], "both stay");
        case.records[1].metadata.deletion_timestamp = deleted;
        case.revocable.insert(other.clone());
        assert_eq!(case.counts(), [0, 0, 0], "neither name is free");
        case.records.remove(0);
        assert_eq!(case.plan().create[0].name_any(), first);
        case.pods[0].ready = false;
        assert_eq!(case.counts(), [0, 0, 0], "it is not wanted");
    }
}

#[test]
fn d94_only_pods_that_run_and_are_not_ready_are_unready() {
    let unready = |change: fn(&mut PodView)| {
        let mut case = Case::new(AGroup, &["p0"]).registered();
        change(&mut case.pods[0]);
        let plan = case.plan();
        (plan.unready.len(), plan.delete.len())
    };
    assert_eq!(unready(|pod| pod.ready = false), (1, 0));
    for change in [
        |pod: &mut PodView| pod.deleting = true,
        |pod: &mut PodView| pod.finished = true,
        |pod: &mut PodView| (pod.ready, pod.running) = (false, false),
    ] {
        assert_eq!(unready(change), (0, 1));
    }
    let mut case = Case::new(AGroup, &["p0"]).registered();
    case.pods[0].ready = false;
    case.set(json!({"parameters": {"weight": "80"}}));
    let plan = case.plan();
    let (_, new) = plan.unready[0].1.as_ref().unwrap();
    assert_eq!(new.spec.parameters["weight"], "80", "if it stays");
    case.pods.clear();
    assert_eq!(case.plan().delete.len(), 1, "it is not selected any more");
}
