//! Binds of a Service (d77).

use super::*;
use crate::api::{AddressFamily, ServiceMode, ServicePortSelector, ServiceSelection};
use crate::backends::{CandidateNode, EndpointCandidates};
use crate::index::{
    Endpoint, EndpointConditions, NodeView, PodTarget, ServicePortView, ServiceView, SliceEndpoint,
    SlicePort, SliceView, unit_of,
};
use k8s_openapi::api::core::v1::NodeAddress;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

fn service() -> Arc<ServiceView> {
    Arc::new(ServiceView {
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
        selector: BTreeMap::new(),
        is_local: false,
        deleting: false,
        load_balancer: None,
    })
}

fn of_service(mode: ServiceMode) -> Bind {
    let mut bind = bind();
    bind.spec.pods = None;
    bind.spec.service = Some(ServiceSelection {
        name: "svc".into(),
        mode: Some(mode),
        port: ServicePortSelector::named("http"),
        ..ServiceSelection::default()
    });
    bind
}

fn nodes(names: &[&str]) -> ServiceCandidates {
    let node = |name: &&str| CandidateNode {
        node: Arc::new(NodeView {
            key: ObjectKey::new("", *name),
            version: 1,
            labels: BTreeMap::new(),
            addresses: vec![NodeAddress {
                type_: "InternalIP".into(),
                address: format!("ip-{name}"),
            }],
            usable: true,
        }),
        has_pods: false,
    };
    ServiceCandidates::Nodes {
        service: Some(service()),
        nodes: names.iter().map(node).collect(),
    }
}

/// One endpoint, which is a pod, at each address.
fn endpoints(addresses: &[&str]) -> EndpointCandidates {
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
                name: "p0".into(),
                uid: "uid-p0".into(),
            }),
            node_name: None,
            zone: None,
            hostname: None,
            for_zones: Box::default(),
        },
    };
    EndpointCandidates {
        service: Some(service()),
        endpoints: addresses.iter().map(endpoint).collect(),
        ..EndpointCandidates::default()
    }
}

fn plan(bind: Bind, candidates: ServiceCandidates, records: &[BackendRecord]) -> RecordPlan {
    decide(&BindState {
        candidates: BindCandidates::Service(candidates),
        ..state(bind, vec![], records.to_vec())
    })
}

fn on_nodes(names: &[&str], records: &[BackendRecord]) -> RecordPlan {
    plan(of_service(ServiceMode::NodePort), nodes(names), records)
}

fn on_endpoints(candidates: EndpointCandidates, records: &[BackendRecord]) -> RecordPlan {
    let candidates = ServiceCandidates::Endpoints(candidates);
    plan(of_service(ServiceMode::Endpoints), candidates, records)
}

#[test]
fn d77_each_node_gets_a_record_at_each_load_balancer() {
    let records = on_nodes(&["n0", "n1"], &[]).create;
    assert_eq!(records.len(), 4);
    let name = names::bind_service_record_name("test", "a", "svc", 80, "TCP", "n0");
    let is_it = |record: &&BackendRecord| record.metadata.name.as_ref() == Some(&name);
    let record = records.iter().find(is_it).unwrap();
    let backend = record.spec.service_backend.as_ref().unwrap();
    assert_eq!((backend.node_port, backend.port.number()), (30080, 80));
    assert_eq!((unit_of(record), record.spec.lb_name.as_str()), ("n0", "a"));
    assert_eq!(record.spec.lb_attributes["payment"], "by-hour");
    assert_eq!(record.spec.parameters["weight"], "100");
    let labels = record.metadata.labels.as_ref().unwrap();
    for (label, value) in [
        ("lbcf.tkestack.io/driver", "driver"),
        ("lbcf.tkestack.io/lb", "a"),
        ("lbcf.tkestack.io/bind", "test"),
        ("lbcf.tkestack.io/backend-service", "svc"),
    ] {
        assert_eq!(labels[label], value);
    }
    assert_eq!(counts(&on_nodes(&["n0", "n1"], &records)), (0, 0, 0));
    assert_eq!(counts(&on_nodes(&["n0"], &records)), (0, 0, 2));
}

#[test]
fn d77_each_endpoint_gets_a_record_at_each_load_balancer() {
    let records = on_endpoints(endpoints(&["10.0.0.1", "10.0.0.2"]), &[]).create;
    assert_eq!(records.len(), 4);
    let name =
        names::bind_endpoint_record_name("test", "a", "svc", "uid-p0", "10.0.0.1", 8080, "TCP");
    let is_it = |record: &&BackendRecord| record.metadata.name.as_ref() == Some(&name);
    let record = records.iter().find(is_it).unwrap();
    assert_eq!(unit_of(record), "10.0.0.1");
    assert_eq!(record.spec.pod_backend.as_ref().unwrap().name, "p0");
    let labels = record.metadata.labels.as_ref().unwrap();
    assert_eq!(labels["lbcf.tkestack.io/pod"], "p0");
    assert_eq!(labels["lbcf.tkestack.io/backend-service"], "svc");
    let same = endpoints(&["10.0.0.1", "10.0.0.2"]);
    assert_eq!(counts(&on_endpoints(same, &records)), (0, 0, 0));
    // Its name is taken by no other record, so that it has only one.
    assert_eq!(records::renamed(record, "test", ""), None);
}

#[test]
fn d61_d77_the_records_of_an_address_that_is_awaited_stay_at_their_load_balancer() {
    let records = on_endpoints(endpoints(&["10.0.0.1"]), &[]).create;
    let awaiting = || EndpointCandidates {
        awaited: ["10.0.0.1".into()].into(),
        ..endpoints(&[])
    };
    assert_eq!(counts(&on_endpoints(awaiting(), &records)), (0, 0, 0));
    assert_eq!(counts(&on_endpoints(endpoints(&[]), &records)), (0, 0, 2));
    let after = |change: fn(&mut Bind)| {
        let mut bind = of_service(ServiceMode::Endpoints);
        change(&mut bind);
        let candidates = ServiceCandidates::Endpoints(awaiting());
        counts(&plan(bind, candidates, &records))
    };
    let renewed = |bind: &mut Bind| entry(bind, 0).lb_info = StringMap::from([("lbID", "new")]);
    assert_eq!(after(renewed), (0, 0, 1), "it is another load balancer");
    let deleted =
        |bind: &mut Bind| bind.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    assert_eq!(
        after(deleted),
        (0, 0, 2),
        "a Bind that is deleted waits for nothing"
    );
}

#[test]
fn d78_another_source_replaces_all_records() {
    let of_pods = decide(&state(bind(), vec![pod("p0")], vec![])).create;
    let of_nodes = on_nodes(&["n0"], &[]).create;
    let of_endpoints = on_endpoints(endpoints(&["10.0.0.1"]), &[]).create;
    let is_other = |plan: RecordPlan, new: usize, old: usize| {
        assert_eq!(counts(&plan), (new, 0, old));
    };
    is_other(on_nodes(&["n0"], &of_pods), 2, 4);
    is_other(on_nodes(&["n0"], &of_endpoints), 2, 2);
    is_other(on_endpoints(endpoints(&["10.0.0.1"]), &of_pods), 2, 4);
    is_other(on_endpoints(endpoints(&["10.0.0.1"]), &of_nodes), 2, 2);
    is_other(decide(&state(bind(), vec![pod("p0")], of_nodes)), 4, 2);
    is_other(decide(&state(bind(), vec![pod("p0")], of_endpoints)), 4, 2);
}
