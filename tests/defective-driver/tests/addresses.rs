//! Defects of `generateBackendAddr`.

use crate::support::{pod_address, sample};
use crate::trial::{Trial, but, without};
use lbcf_defective_driver::Defect;
use serde_json::{Value, json};

const GENERATE: &str = "generateBackendAddr";

fn service() -> Value {
    let addresses = json!([{"type": "InternalIP", "address": "10.0.0.9"}]);
    json!({
        "recordID": "generateBackendAddr(1)",
        "retryID": "r",
        "dryRun": false,
        "lbInfo": sample(),
        "parameters": {},
        "podBackend": null,
        "serviceBackend": {
            "service": {
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}]},
            },
            "port": {"port": 80, "portNumber": 80, "protocol": "TCP"},
            "nodeName": "node-1",
            "nodeAddresses": addresses,
        },
    })
}

fn endpoint(address: &str) -> Value {
    let mut request = but(service(), "serviceBackend", Value::Null);
    request["endpointBackend"] = json!({
        "address": address, "port": 5432, "protocol": "TCP", "addressType": "IPv4",
        "service": {"namespace": "default", "name": "db"},
    });
    request
}

fn pod(ip: &str, port: u16) -> Value {
    let mut request = but(pod_address(ip, port), "parameters", json!({}));
    request["podBackend"]["port"] = json!({"port": port, "portNumber": port, "protocol": "TCP"});
    request
}

pub(crate) async fn misbehaves(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let address = async |request: Value| {
        let reply = trial.call(GENERATE, request).await;
        assert!(reply.has_status("Succ"), "{}", reply.body);
        reply.body["backendAddr"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let with_port = |port: Value| {
        let mut request = pod("10.0.0.1", 80);
        request["podBackend"]["port"] = port;
        request
    };
    let only_port = || with_port(json!({"port": 80, "protocol": "TCP"}));
    let only_number = || with_port(json!({"portNumber": 80, "protocol": "TCP"}));
    Some(match defect {
        Defect::AddrEmpty => address(pod("10.0.0.1", 80)).await.is_empty(),
        Defect::AddrEmptyWithoutIp => {
            assert!(!address(pod("10.0.0.1", 80)).await.is_empty());
            trial.succ(GENERATE, pod("", 80)).await
        }
        Defect::ServiceAddrEmpty => {
            assert!(!address(pod("10.0.0.1", 80)).await.is_empty());
            address(service()).await.is_empty()
        }
        Defect::EndpointBesidePodRefused => {
            assert!(!address(pod("10.0.0.1", 80)).await.is_empty());
            assert!(!address(endpoint("10.0.0.1")).await.is_empty());
            let mut both = pod("10.0.0.1", 80);
            both["endpointBackend"] = endpoint("10.0.0.1")["endpointBackend"].clone();
            trial.fails(GENERATE, both).await
        }
        Defect::EndpointAddrIsTheServices => {
            address(endpoint("10.0.0.1")).await == address(endpoint("10.0.0.2")).await
        }
        Defect::NodeAddressOnly => {
            let mut spelled = service();
            spelled["serviceBackend"]["nodeAddress"] =
                spelled["serviceBackend"]["nodeAddresses"].clone();
            assert!(!address(spelled).await.is_empty());
            trial.fails(GENERATE, service()).await
        }
        Defect::PodAsStringOnly => {
            let mut text = pod("10.0.0.1", 80);
            text["podBackend"]["pod"] = text["podBackend"]["pod"].to_string().into();
            assert!(!address(text).await.is_empty());
            trial.fails(GENERATE, pod("10.0.0.1", 80)).await
        }
        Defect::AddrRandom => {
            address(pod("10.0.0.1", 80)).await != address(pod("10.0.0.1", 80)).await
        }
        Defect::AddrWithRetryId => {
            let again = but(pod("10.0.0.1", 80), "retryID", "other");
            let first = address(pod("10.0.0.1", 80)).await;
            assert_eq!(first, address(pod("10.0.0.1", 80)).await);
            first != address(again).await
        }
        Defect::AddrCollidingPods => {
            assert_ne!(
                address(pod("10.0.0.1", 80)).await,
                address(pod("10.0.0.1", 81)).await
            );
            address(pod("10.0.0.1", 80)).await == address(pod("10.0.0.2", 80)).await
        }
        Defect::AddrCollidingPorts => {
            assert_ne!(
                address(pod("10.0.0.1", 80)).await,
                address(pod("10.0.0.2", 80)).await
            );
            address(pod("10.0.0.1", 80)).await == address(pod("10.0.0.1", 81)).await
        }
        Defect::NeedsParameters => {
            assert!(!address(pod("10.0.0.1", 80)).await.is_empty());
            let request = but(pod("10.0.0.1", 80), "parameters", Value::Null);
            trial.call(GENERATE, request).await.is_crash()
        }
        Defect::ParametersKeyNeeded => {
            let null = but(pod("10.0.0.1", 80), "parameters", Value::Null);
            assert!(!address(null).await.is_empty());
            let absent = without(pod("10.0.0.1", 80), "parameters");
            trial.call(GENERATE, absent).await.is_crash()
        }
        Defect::GenerateBinds => {
            let lb_info = trial.create("1").await;
            address(but(pod("10.0.0.1", 80), "lbInfo", lb_info.clone())).await;
            trial.addresses(&lb_info).await.len() == 1
        }
        Defect::LegacyPortOnly => {
            assert!(trial.succ(GENERATE, only_number()).await);
            trial.fails(GENERATE, only_port()).await
        }
        Defect::NewPortOnly => {
            assert!(trial.succ(GENERATE, only_port()).await);
            trial.fails(GENERATE, only_number()).await
        }
        Defect::ProtocolRequired => {
            let request = with_port(json!({"port": 80, "portNumber": 80}));
            trial.call(GENERATE, request).await.is_crash()
        }
        _ => return None,
    })
}

/// A request of the original's controller, which forgets what is not set.
#[tokio::test]
async fn a_request_without_parameters_needs_them_too() {
    let trial = Trial::new(&[Defect::NeedsParameters]);
    let request = without(pod("10.0.0.1", 80), "parameters");
    assert!(trial.call(GENERATE, request).await.is_crash());
}
