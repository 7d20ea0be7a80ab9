//! Builders of pods, services and calls.

use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_driver_sdk::testing::{
    ensure_backend, generate_backend_addr, pod, service, validate_backend, validate_load_balancer,
};
use lbcf_driver_sdk::webhook::{
    BackendType, Operation, PodBackend, Protocol, ServiceBackend, StringMap,
};

#[test]
fn pods_have_the_given_fields() {
    let builder = pod("web-0")
        .namespace("shop")
        .uid("u-1")
        .ip("10.0.0.7")
        .port(80)
        .label("app", "web");
    let builder = builder
        .annotation("note", "x")
        .protocol_port(Protocol::Udp, 53)
        .on_node("node-7", "10.9.0.7");
    let backend = PodBackend::from(builder.clone());
    assert_eq!(
        (backend.port.port, backend.port.protocol),
        (53, Protocol::Udp)
    );
    let whole = Pod::from(builder);
    assert_eq!(whole, backend.pod);
    let metadata = &whole.metadata;
    assert_eq!(metadata.name.as_deref(), Some("web-0"));
    assert_eq!(metadata.namespace.as_deref(), Some("shop"));
    assert_eq!(metadata.uid.as_deref(), Some("u-1"));
    assert_eq!(metadata.labels.as_ref().unwrap()["app"], "web");
    assert_eq!(metadata.annotations.as_ref().unwrap()["note"], "x");
    assert_eq!(metadata.deletion_timestamp, None);
    let spec = whole.spec.as_ref().unwrap();
    assert_eq!(spec.node_name.as_deref(), Some("node-7"));
    let ports = spec.containers[0].ports.as_ref().unwrap();
    let ports: Vec<_> = ports
        .iter()
        .map(|port| (port.container_port, port.protocol.as_deref()))
        .collect();
    assert_eq!(ports, [(80, Some("TCP")), (53, Some("UDP"))]);
    let status = whole.status.as_ref().unwrap();
    assert_eq!(status.pod_ip.as_deref(), Some("10.0.0.7"));
    assert_eq!(status.host_ip.as_deref(), Some("10.9.0.7"));
    assert_eq!(status.phase.as_deref(), Some("Running"));
    let ready = |pod: &Pod| {
        pod.status.as_ref().unwrap().conditions.as_ref().unwrap()[0]
            .status
            .clone()
    };
    assert_eq!(ready(&whole), "True");

    let sick = Pod::from(
        pod("web-0")
            .ready(false)
            .phase("Pending")
            .without_ip()
            .deleting(),
    );
    assert_eq!(ready(&sick), "False");
    assert!(sick.metadata.deletion_timestamp.is_some());
    let status = sick.status.unwrap();
    assert_eq!(
        (status.phase.as_deref(), status.pod_ip),
        (Some("Pending"), None)
    );

    // Defaults are derived from the name; the port is TCP 80.
    let (one, same, other) = (
        PodBackend::from(pod("a")),
        PodBackend::from(pod("a")),
        PodBackend::from(pod("b")),
    );
    assert_eq!(one, same);
    assert_ne!(one.pod.metadata.uid, other.pod.metadata.uid);
    let ip = |backend: &PodBackend| backend.pod.status.clone().unwrap().pod_ip.unwrap();
    assert_ne!(ip(&one), ip(&other));
    assert!(ip(&one).parse::<std::net::Ipv4Addr>().unwrap().is_private());
    assert_eq!((one.port.port, one.port.protocol), (80, Protocol::Tcp));
}

#[test]
fn services_have_the_given_fields() {
    let builder = service("web")
        .namespace("shop")
        .node_port(80, 30080)
        .protocol_node_port(Protocol::Udp, 53, 30053);
    let builder = builder
        .on_node("node-7")
        .node_address("InternalIP", "10.0.0.7");
    let backend = ServiceBackend::from(builder.clone());
    assert_eq!(
        (backend.port.port, backend.port.protocol),
        (53, Protocol::Udp)
    );
    assert_eq!(backend.node_name, "node-7");
    assert_eq!(backend.node_addresses.len(), 1);
    assert_eq!(backend.node_addresses[0].address, "10.0.0.7");
    let whole = Service::from(builder);
    assert_eq!(whole.metadata.namespace.as_deref(), Some("shop"));
    let spec = whole.spec.unwrap();
    assert_eq!(spec.type_.as_deref(), Some("NodePort"));
    let ports: Vec<_> = spec
        .ports
        .unwrap()
        .iter()
        .map(|port| (port.port, port.node_port))
        .collect();
    assert_eq!(ports, [(80, Some(30080)), (53, Some(30053))]);
    let with_defaults = ServiceBackend::from(service("web").node_port(80, 30080));
    assert_eq!(with_defaults.node_name, "node-1");
    assert_eq!(with_defaults.node_addresses[0].address, "192.0.2.1");
}

#[test]
fn calls_have_the_given_fields() {
    let whole = StringMap::from([("id".to_owned(), "lb-1".to_owned())]);
    let call = ensure_backend()
        .lb_info(&whole)
        .parameters(&whole)
        .injected_info(&whole)
        .injected("more", true);
    let request = call.request();
    assert_eq!((&request.lb_info, &request.parameters), (&whole, &whole));
    assert_eq!(request.injected_info["more"], "true");
    let call = validate_load_balancer().lb_spec(&whole).attributes(&whole);
    assert_eq!(call.request().operation, Operation::Create);
    let call = call.old_attribute("size", 1);
    assert_eq!(call.request().operation, Operation::Update);
    assert_eq!(call.request().old_attributes["size"], "1");
    let call = validate_backend()
        .backend_type(BackendType::Static)
        .old_parameter("weight", 1);
    assert_eq!(call.request().backend_type, BackendType::Static);
    assert_eq!(call.request().operation, Operation::Update);
    let call = generate_backend_addr()
        .lb_attributes(&whole)
        .service(service("web").node_port(80, 30080));
    assert_eq!(call.request().lb_attributes, whole);
    assert!(call.request().service_backend.is_some());
    assert!(format!("{call:?}").starts_with("generateBackendAddr {"));
    assert!(validate_backend().dry_run().request().dry_run);
}
