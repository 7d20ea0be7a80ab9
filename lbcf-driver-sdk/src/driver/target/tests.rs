use super::*;
use serde_json::json;

fn pod(ip: &str, port: i32, protocol: &str) -> PodBackend {
    serde_json::from_value(json!({
        "pod": {
            "metadata": {"name": "web-0", "namespace": "shop"},
            "status": {"podIP": ip},
        },
        "port": {"port": port, "protocol": protocol},
    }))
    .unwrap()
}

fn service(node_port: i32, addresses: &serde_json::Value) -> ServiceBackend {
    serde_json::from_value(json!({
        "service": {
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"ports": [
                {"port": 80, "protocol": "UDP", "nodePort": 32_000},
                {"port": 80, "nodePort": node_port},
            ]},
        },
        "port": {"port": 80, "protocol": "TCP"},
        "nodeName": "node-1",
        "nodeAddresses": addresses,
    }))
    .unwrap()
}

/// `host port/protocol`, or the message.
fn shown(target: Result<Target<'_>, HookError>) -> String {
    match target {
        Ok(target) => format!("{} {}/{}", target.host, target.port, target.protocol),
        Err(error) => error.message().to_owned(),
    }
}

#[test]
fn gen_01_a_pod_has_its_ip_and_port() {
    let target = |ip, port, protocol| shown(of_pod(&pod(ip, port, protocol)));
    assert_eq!(target("10.0.0.1", 8080, ""), "10.0.0.1 8080/TCP");
    assert_eq!(target("10.0.0.1", 80, "udp"), "10.0.0.1 80/UDP");
    for port in [0, 65536] {
        let expected = format!("port {port}: not a number from 1 to 65535");
        assert_eq!(target("10.0.0.1", port, "TCP"), expected);
    }
}

#[test]
fn gen_08_a_pod_without_an_ip_is_asked_for_again_soon() {
    let pod = pod("", 80, "TCP");
    let error = of_pod(&pod).unwrap_err();
    assert!(error.is_running());
    assert_eq!(error.delay(), Some(SOON));
    assert_eq!(error.message(), "pod shop/web-0 has no IP yet");
}

#[test]
fn b112_a_node_has_its_internal_address_and_the_node_port_of_the_protocol() {
    let target = |node_port, addresses| shown(of_node(&service(node_port, &addresses)));
    let host_name = json!({"type": "Hostname", "address": "node-1"});
    let external = json!({"type": "ExternalIP", "address": "8.8.8.8"});
    let internal = json!({"type": "InternalIP", "address": "192.168.0.7"});
    let all = json!([host_name, external, internal]);
    assert_eq!(target(32_760, all), "192.168.0.7 32760/TCP");
    let public = json!([host_name, external]);
    assert_eq!(target(32_760, public), "8.8.8.8 32760/TCP");
    assert_eq!(target(32_760, json!([host_name])), "node-1 32760/TCP");
    let expected = "service shop/web has no node port for port 80/TCP";
    assert_eq!(target(0, json!([internal])), expected);
    assert_eq!(target(32_760, json!([])), "node node-1 has no address");
}

#[test]
fn gen_09_an_endpoint_has_its_own_address() {
    let endpoint = |address: &str| -> EndpointBackend {
        let endpoint = json!({"address": address, "port": 5432, "protocol": "UDP"});
        serde_json::from_value(endpoint).unwrap()
    };
    let target = |address| shown(of_endpoint(&endpoint(address)));
    assert_eq!(target("2001:db8::7"), "2001:db8::7 5432/UDP");
    assert_eq!(target("db.example.com"), "db.example.com 5432/UDP");
    assert_eq!(target(""), "the endpoint of service / has no address");
    let address = |host| {
        let endpoint = endpoint(host);
        of_endpoint(&endpoint).and_then(|it| it.socket_addr())
    };
    assert_eq!(
        address("2001:db8::7").unwrap().to_string(),
        "[2001:db8::7]:5432"
    );
    assert_eq!(
        address("db.example.com").unwrap_err().message(),
        "db.example.com: not an IP address, which this load balancer needs"
    );
}

#[test]
fn d66_a_pod_that_is_an_endpoint_has_the_endpoints_address() {
    let endpoint = json!({"address": "2001:db8::7", "port": 8081, "protocol": "TCP"});
    let mut request: GenerateBackendAddr = GenerateBackendAddr {
        pod_backend: Some(pod("10.0.0.1", 8080, "TCP")),
        endpoint_backend: serde_json::from_value(endpoint).unwrap(),
        ..GenerateBackendAddr::default()
    };
    assert_eq!(shown(request.target()), "2001:db8::7 8081/TCP");
    request.endpoint_backend = None;
    assert_eq!(shown(request.target()), "10.0.0.1 8080/TCP");
}

#[test]
fn d66_an_endpoint_is_a_pod_where_it_is_one_and_nothing_else_beside_it() {
    let endpoint = || Some(EndpointBackend::default());
    let (pod, service) = (PodBackend::default(), ServiceBackend::default());
    let none: GenerateBackendAddr = GenerateBackendAddr::default();
    let of_pod = GenerateBackendAddr {
        pod_backend: Some(pod.clone()),
        ..none.clone()
    };
    let of_service = GenerateBackendAddr {
        service_backend: Some(service.clone()),
        ..none.clone()
    };
    let and_endpoint = |request: &GenerateBackendAddr| GenerateBackendAddr {
        endpoint_backend: endpoint(),
        ..request.clone()
    };
    for request in [&of_pod, &and_endpoint(&of_pod)] {
        assert_eq!(request.backend().unwrap(), Backend::Pod(&pod));
    }
    assert_eq!(of_service.backend().unwrap(), Backend::Service(&service));
    let alone = and_endpoint(&none);
    let expected = Backend::Endpoint(&EndpointBackend::default());
    assert_eq!(alone.backend().unwrap(), expected);
    let both = GenerateBackendAddr {
        service_backend: Some(service),
        ..of_pod
    };
    for (request, problem) in [
        (&none, "names no backend"),
        (&both, "names two backends"),
        (&and_endpoint(&both), "names two backends"),
        (&and_endpoint(&of_service), "names two backends"),
    ] {
        let error = request.backend().unwrap_err();
        assert!(error.message().contains(problem), "{error}");
    }
}
