//! Addresses of pods and node ports.

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

fn of_pod(ip: &str, port: i32, protocol: &str) -> Result<String, String> {
    pod_address(&pod(ip, port, protocol)).map_err(|error| error.message().to_owned())
}

fn of_service(node_port: i32, addresses: &serde_json::Value) -> Result<String, String> {
    let address = node_address(&service(node_port, addresses));
    address.map_err(|error| error.message().to_owned())
}

#[test]
fn gen_01_a_pod_is_known_by_ip_port_and_protocol() {
    assert_eq!(
        of_pod("10.0.0.1", 8080, "").unwrap(),
        r#"{"ip":"10.0.0.1","port":8080,"protocol":"TCP"}"#
    );
}

#[test]
fn gen_04_other_backends_have_other_addresses() {
    let addresses = std::collections::BTreeSet::from([
        of_pod("10.0.0.1", 80, "TCP").unwrap(),
        of_pod("10.0.0.2", 80, "TCP").unwrap(),
        of_pod("10.0.0.1", 81, "TCP").unwrap(),
        of_pod("10.0.0.1", 80, "udp").unwrap(),
    ]);
    assert_eq!(addresses.len(), 4);
}

#[test]
fn gen_02_a_node_port_is_known_by_the_internal_address() {
    let addresses = json!([
        {"type": "Hostname", "address": "node-1"},
        {"type": "ExternalIP", "address": "8.8.8.8"},
        {"type": "InternalIP", "address": "192.168.0.7"},
    ]);
    assert_eq!(
        of_service(32_760, &addresses).unwrap(),
        r#"{"ip":"192.168.0.7","port":32760,"protocol":"TCP"}"#
    );
    let only_name = json!([{"type": "Hostname", "address": "node-1"}]);
    assert!(of_service(32_760, &only_name).unwrap().contains("node-1"));
}

#[test]
fn gen_09_an_endpoint_is_known_by_its_own_address() {
    let endpoint = |address: &str| -> EndpointBackend {
        serde_json::from_value(json!({"address": address, "port": 5432, "protocol": "UDP"}))
            .unwrap()
    };
    let of_endpoint =
        |address| endpoint_address(&endpoint(address)).map_err(|error| error.message().to_owned());
    assert_eq!(
        of_endpoint("2001:db8::7").unwrap(),
        r#"{"ip":"2001:db8::7","port":5432,"protocol":"UDP"}"#
    );
    assert!(
        of_endpoint("db.example.com")
            .unwrap()
            .contains("db.example.com")
    );
    assert_eq!(
        of_endpoint("").unwrap_err(),
        "the endpoint of service / has no address"
    );
}

#[test]
fn gen_08_a_backend_without_an_address_fails_with_the_reason() {
    assert_eq!(
        of_pod("", 80, "TCP").unwrap_err(),
        "pod shop/web-0 has no IP yet"
    );
    assert_eq!(
        of_pod("10.0.0.1", 0, "TCP").unwrap_err(),
        "port 0: not a number from 1 to 65535"
    );
    assert_eq!(
        of_service(0, &json!([])).unwrap_err(),
        "service shop/web has no node port for port 80/TCP"
    );
    assert_eq!(
        of_service(32_760, &json!([])).unwrap_err(),
        "node node-1 has no address"
    );
}
