use super::*;
use crate::api::{ObjectKey, ServiceMode, ServicePortSelector};
use crate::backends::SelectedService;
use crate::index::{Endpoint, EndpointConditions, EndpointCounts, SlicePort};
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

struct Case {
    selection: ServiceSelection,
    service: Option<ServiceView>,
    slices: Vec<SliceView>,
    /// Backends, registered ones, and those that are not ready.
    counts: [usize; 3],
}

/// A service with one endpoint that is registered.
fn case() -> Case {
    let endpoint = Endpoint {
        address: "10.0.0.1".into(),
        conditions: EndpointConditions::default(),
        pod: None,
        node_name: None,
        zone: None,
        hostname: None,
        for_zones: Box::default(),
    };
    let port = ServicePortView {
        name: "http".into(),
        port: 80,
        protocol: "TCP".into(),
        node_port: 0,
        target_port: Some(8080),
    };
    Case {
        selection: ServiceSelection {
            name: "svc".into(),
            mode: Some(ServiceMode::Endpoints),
            port: ServicePortSelector::new(80, Protocol::Tcp),
            ..ServiceSelection::default()
        },
        service: Some(ServiceView {
            key: ObjectKey::new("ns", "svc"),
            version: 1,
            is_external_name: false,
            has_node_ports: false,
            ports: vec![port],
            selector: BTreeMap::new(),
            is_local: false,
            deleting: false,
            addresses: Vec::new(),
            load_balancer: None,
        }),
        slices: vec![SliceView {
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
            endpoints: vec![endpoint],
            problems: Vec::new(),
            is_unknown: false,
        }],
        counts: [1, 1, 0],
    }
}

/// The reason and message after a change.
fn after(change: impl FnOnce(&mut Case)) -> Option<(&'static str, String)> {
    let mut case = case();
    change(&mut case);
    let [backends, registered, unready] = case.counts;
    let counts = OwnerCounts {
        endpoints: EndpointCounts {
            units: backends,
            unready,
            ..EndpointCounts::default()
        },
        ..OwnerCounts::default()
    };
    let wait = ServiceWait {
        selection: &case.selection,
        namespace: "ns",
        selected: &SelectedService {
            service: case.service.map(Arc::new),
            slices: case.slices.into_iter().map(Arc::new).collect(),
        },
        counts: &counts,
        owner: &OwnerView::default(),
        is_complete: registered == backends,
    };
    let wait = wait.find()?;
    Some((wait.reason, wait.message))
}

fn says(change: impl FnOnce(&mut Case), reason: &str, message: &str) {
    let (is, text) = after(change).unwrap();
    assert_eq!((is, text.as_str()), (reason, message));
}

#[test]
fn d44_endpoints_that_are_registered_wait_for_nothing() {
    assert_eq!(after(|_| {}), None);
}

#[test]
fn d63_a_service_that_cannot_have_the_port_is_named_with_the_field() {
    says(
        |case| case.service = None,
        "ServiceNotFound",
        "spec.service.name: Service ns/svc not found, or being deleted",
    );
    says(
        |case| case.service.as_mut().unwrap().is_external_name = true,
        "NoEndpoints",
        "spec.service.name: Service ns/svc has the type ExternalName, which has no endpoints",
    );
    says(
        |case| case.selection.port = ServicePortSelector::named("https"),
        "NoServicePort",
        "spec.service.port: Service ns/svc has no port \"https\"; it has \"http\" (80/TCP)",
    );
    says(
        |case| {
            case.selection.port = ServicePortSelector::new(81, Protocol::Udp);
            case.service.as_mut().unwrap().ports.clear();
        },
        "NoServicePort",
        "spec.service.port: Service ns/svc has no port 81/UDP; it has none",
    );
}

#[test]
fn e14_e16_a_slice_without_the_port_is_named() {
    says(
        |case| case.slices[0].ports.clear(),
        "NoServicePort",
        "EndpointSlice ns/svc-1: ports: empty, so that its endpoints have no port",
    );
    says(
        |case| case.slices[0].ports[0].name = "web".into(),
        "NoServicePort",
        "EndpointSlice ns/svc-1: ports: no port is named \"http\" with protocol TCP",
    );
    says(
        |case| {
            case.slices[0].ports[0].port = None;
            case.service.as_mut().unwrap().ports[0].target_port = None;
        },
        "NoServicePort",
        "EndpointSlice ns/svc-1: ports: \"http\" has no number, and the targetPort of Service ns/svc is a name",
    );
    let without_endpoints = after(|case| {
        case.slices[0].ports.clear();
        case.slices[0].endpoints.clear();
    });
    assert_eq!(without_endpoints, None, "it registers nothing anyway");
}

#[test]
fn e2_d64_a_malformed_slice_is_named_with_the_field() {
    says(
        |case| case.slices[0].problems = vec!["addressType: required".into()],
        "InvalidEndpointSlice",
        "EndpointSlice ns/svc-1: addressType: required",
    );
}

#[test]
fn d44_a_service_without_endpoints_says_why() {
    let empty = |case: &mut Case| case.counts = [0, 0, 0];
    says(
        |case| {
            empty(case);
            case.slices.clear();
        },
        "NoEndpoints",
        "spec.service.name: Service ns/svc has neither a selector nor an EndpointSlice with the label kubernetes.io/service-name",
    );
    says(
        |case| {
            empty(case);
            case.slices[0].endpoints.clear();
        },
        "NoEndpoints",
        "Service ns/svc has no endpoints",
    );
    says(
        |case| {
            empty(case);
            case.slices[0].family = AddressFamily::Fqdn;
        },
        "NoEndpoints",
        "spec.service.addressFamilies: Service ns/svc has no endpoints of the type IPv4, IPv6",
    );
    says(
        |case| {
            empty(case);
            case.selection.zones = vec!["a".into()];
        },
        "NoEndpoints",
        "spec.service.zones: Service ns/svc has no endpoints for zone a",
    );
    says(
        empty,
        "NoEndpoints",
        "all endpoints of Service ns/svc are terminating",
    );
    says(
        |case| case.counts = [2, 1, 1],
        "EndpointsNotReady",
        "some endpoints of Service ns/svc are not ready",
    );
}
