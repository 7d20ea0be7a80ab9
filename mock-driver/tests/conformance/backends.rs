//! VBE, GEN, ENS, DRG and JPD.

use crate::support::{Mock, backend, create, delete, order, pod_address, sample};
use serde_json::{Value, json};

/// A mock with a load balancer, and its identity.
async fn with_load_balancer() -> (Mock, Value) {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    (mock, created["lbInfo"].clone())
}

/// What is observed of the only load balancer's backends.
async fn backends(mock: &Mock) -> Value {
    mock.observe().await["loadBalancers"][0]["backends"].take()
}

fn service_address(node_port: i32, port: Value) -> Value {
    json!({
        "recordID": "g", "lbInfo": sample(), "parameters": null, "podBackend": null,
        "serviceBackend": {
            "service": {
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"ports": [{"port": 80, "protocol": "TCP", "nodePort": node_port}]},
            },
            "port": port,
            "nodeName": "node-0",
            "nodeAddresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        },
    })
}

#[tokio::test]
async fn vbe_03_04_old_parameters_in_either_spelling() {
    let mock = Mock::new();
    for spellings in [
        json!({"OldParameters": {"weight": "1"}}),
        json!({"oldParameters": {"weight": "1"}}),
        json!({"OldParameters": {"weight": "1"}, "oldParameters": {"weight": "1"}}),
        json!({"OldParameters": null}),
    ] {
        let mut call = spellings;
        call["backendType"] = "Pod".into();
        call["operation"] = "Update".into();
        call["lbInfo"] = Value::Null;
        call["parameters"] = json!({"weight": "2"});
        mock.succ("validateBackend", call).await;
    }
}

#[tokio::test]
async fn gen_02_03_07_a_service_has_the_address_of_its_node() {
    let mock = Mock::new();
    for port in [
        json!({"port": 80, "protocol": "TCP"}),
        json!({"portNumber": 80, "protocol": "TCP"}),
        json!({"portNumber": 80, "port": 80}),
        json!({"portNumber": 80}),
    ] {
        for _ in 0..10 {
            let call = service_address(30080, port.clone());
            let reply = mock.succ("generateBackendAddr", call).await;
            assert_eq!(
                reply["backendAddr"],
                r#"{"ip":"10.1.0.1","port":30080,"protocol":"TCP"}"#
            );
        }
    }
}

#[tokio::test]
async fn gen_04_every_backend_has_an_address_of_its_own() {
    let mock = Mock::new();
    let mut seen = std::collections::BTreeSet::new();
    for ip in ["10.0.0.1", "10.0.0.2"] {
        for port in [80, 81] {
            let call = pod_address(ip, port);
            let reply = mock.succ("generateBackendAddr", call).await;
            seen.insert(reply["backendAddr"].to_string());
        }
    }
    let mut udp = pod_address("10.0.0.1", 80);
    udp["podBackend"]["port"] = json!({"port": 80, "protocol": "UDP"});
    let reply = mock.succ("generateBackendAddr", udp).await;
    seen.insert(reply["backendAddr"].to_string());
    assert_eq!(seen.len(), 5);
}

#[tokio::test]
async fn gen_08_without_an_address_it_does_not_succeed() {
    let mock = Mock::new();
    let neither = json!({"recordID": "g", "podBackend": null, "serviceBackend": null});
    let static_one = json!({"recordID": "g", "staticBackend": {"addr": "1.1.1.1:80"}});
    let mut no_status = pod_address("10.0.0.1", 80);
    no_status["podBackend"]["pod"]["status"] = Value::Null;
    let no_node_port = service_address(0, json!({"port": 80}));
    for call in [neither, static_one, no_node_port] {
        let message = mock.rejected("generateBackendAddr", call).await;
        assert!(!message.is_empty());
    }
    let response = mock.call("generateBackendAddr", no_status).await;
    assert_eq!(response["status"], "Running");
    assert_eq!(response["minRetryDelayInSeconds"], 2);
}

#[tokio::test]
async fn ens_04_05_any_record_id_and_any_injected_info() {
    let (mock, lb_info) = with_load_balancer().await;
    let mut injected = Value::Null;
    for record in ["ensureBackend(1)", "ensureBackend(1)", "ensureBackend(2)"] {
        for echoed in [Value::Null, json!({}), injected.clone(), json!({"x": "y"})] {
            let mut call = backend(&lb_info, "a", json!({"weight": "1"}));
            call["recordID"] = record.into();
            call["injectedInfo"] = echoed;
            injected = mock.succ("ensureBackend", call).await["injectedInfo"].clone();
        }
    }
    assert_eq!(mock.addresses().await, ["a"]);
}

#[tokio::test]
async fn ens_06_drg_05_other_backends_do_not_change() {
    let (mock, lb_info) = with_load_balancer().await;
    let first = backend(&lb_info, "a", json!({"weight": "1"}));
    mock.succ("ensureBackend", first).await;
    let before = backends(&mock).await;
    let second = backend(&lb_info, "b", json!({"weight": "2"}));
    mock.succ("ensureBackend", second.clone()).await;
    assert_eq!(backends(&mock).await[0], before[0]);
    mock.succ("deregisterBackend", second).await;
    assert_eq!(backends(&mock).await, before);
}

#[tokio::test]
async fn drg_01_04_06_deregistering_ignores_the_parameters() {
    let (mock, lb_info) = with_load_balancer().await;
    for parameters in [
        Value::Null,
        json!({}),
        json!({"weight": "2"}),
        json!({"weight": "no weight"}),
    ] {
        let bound = backend(&lb_info, "a", json!({"weight": "1"}));
        mock.succ("ensureBackend", bound).await;
        for n in 0..10 {
            let mut call = backend(&lb_info, "a", parameters.clone());
            call["recordID"] = "deregisterBackend(a)".into();
            call["retryID"] = n.to_string().into();
            call["injectedInfo"] = Value::Null;
            mock.succ("deregisterBackend", call).await;
            assert_eq!(backends(&mock).await, json!([]));
        }
    }
}

#[tokio::test]
async fn drg_07_on_a_load_balancer_that_was_deleted() {
    let (mock, lb_info) = with_load_balancer().await;
    mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
        .await;
    mock.succ("deregisterBackend", backend(&lb_info, "a", Value::Null))
        .await;
}

#[tokio::test]
async fn jpd_01_to_03_kept_pods_are_from_the_request() {
    let mock = Mock::new();
    let pod = |name: &str| {
        json!({"metadata": {
            "name": name, "namespace": "default",
            "annotations": {mock_driver::KEEP_REGISTERED: "true"},
        }})
    };
    let call = json!({"dryRun": false, "notReadyPods": [pod("a"), pod("b")]});
    let reply = mock.succ("judgePodDeregister", call).await;
    let stays = reply["doNotDeregister"].as_array().unwrap();
    let names: Vec<_> = stays
        .iter()
        .map(|pod| [&pod["metadata"]["name"], &pod["metadata"]["namespace"]])
        .collect();
    let (a, b, namespace) = (json!("a"), json!("b"), json!("default"));
    assert_eq!(names, [[&a, &namespace], [&b, &namespace]]);
    let none = mock
        .succ("judgePodDeregister", json!({"notReadyPods": []}))
        .await;
    assert_eq!(none["doNotDeregister"], json!([]));
}

#[tokio::test]
async fn life_04_twenty_backends_are_replaced_one_by_one() {
    let mock = Mock::new();
    let addr = |generation: usize, n: usize| format!("10.0.{generation}.{n}:80");
    for n in 0..20 {
        let call = backend(&sample(), &addr(0, n), Value::Null);
        mock.succ("ensureBackend", call).await;
    }
    for n in 0..20 {
        mock.succ(
            "ensureBackend",
            backend(&sample(), &addr(1, n), Value::Null),
        )
        .await;
        assert_eq!(mock.addresses().await.len(), 21);
        mock.succ(
            "deregisterBackend",
            backend(&sample(), &addr(0, n), Value::Null),
        )
        .await;
    }
    let mut expected: Vec<_> = (0..20).map(|n| addr(1, n)).collect();
    expected.sort();
    assert_eq!(mock.addresses().await, expected);
}
