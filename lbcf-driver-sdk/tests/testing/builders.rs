//! Builders of pods, services and calls.

use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_driver_sdk::testing::{
    ensure_backend, generate_backend_addr, pod, service, validate_backend, validate_load_balancer,
};
use lbcf_driver_sdk::webhook::{
    BackendType, KubernetesObject, Operation, PodBackend, Protocol, ServiceBackend, StringMap,
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
    let whole = KubernetesObject::from(builder);
    assert_eq!(whole, backend.pod);
    assert_eq!((&*whole.name, &*whole.namespace), ("web-0", "shop"));
    assert_eq!((&*whole.uid, whole.deleting), ("u-1", false));
    assert_eq!(whole.labels["app"], "web");
    assert_eq!(whole.annotations["note"], "x");
    assert_eq!((&*whole.node_name, &*whole.host_ip), ("node-7", "10.9.0.7"));
    assert_eq!(whole.ips, ["10.0.0.7"]);
    assert_eq!((&*whole.phase, whole.ready), ("Running", true));
    let whole_pod: Pod = whole.read().unwrap();
    let ports = whole_pod.spec.unwrap().containers[0].ports.clone().unwrap();
    let ports = ports.into_iter().map(|it| (it.container_port, it.protocol));
    let protocol = |name: &str| Some(name.to_owned());
    let expected = [(80, protocol("TCP")), (53, protocol("UDP"))];
    assert_eq!(ports.collect::<Vec<_>>(), expected);

    let sick = pod("web-0").ready(false).phase("Pending");
    let sick = KubernetesObject::from(sick.without_ip().deleting());
    assert_eq!((sick.ready, sick.deleting), (false, true));
    assert_eq!((&*sick.phase, sick.ips.len()), ("Pending", 0));

    // Defaults are derived from the name; the port is TCP 80.
    let (one, same, other) = (
        PodBackend::from(pod("a")),
        PodBackend::from(pod("a")),
        PodBackend::from(pod("b")),
    );
    assert_eq!(one, same);
    assert_ne!(one.pod.uid, other.pod.uid);
    assert_ne!(one.pod.ips, other.pod.ips);
    let ip: std::net::Ipv4Addr = one.pod.ips[0].parse().unwrap();
    assert!(ip.is_private());
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
    let backend = ServiceBackend::from(builder);
    assert_eq!(
        (backend.port.port, backend.port.protocol),
        (53, Protocol::Udp)
    );
    assert_eq!(backend.node_name, "node-7");
    assert_eq!(backend.node_addresses.len(), 1);
    assert_eq!(backend.node_addresses[0].address, "10.0.0.7");
    assert_eq!(backend.service.namespace, "shop");
    let ports = backend.service.ports.iter();
    let ports: Vec<_> = ports.map(|port| (port.port, port.node_port)).collect();
    assert_eq!(ports, [(80, 30080), (53, 30053)]);
    let whole: Service = backend.service.read().unwrap();
    assert_eq!(whole.spec.unwrap().type_.as_deref(), Some("NodePort"));
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
