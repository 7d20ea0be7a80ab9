//! The webhooks about backends and pods.

use crate::support::{Mock, backend, create, order, pod_address, sample};
use mock_driver::KEEP_REGISTERED;
use serde_json::{Value, json};

#[tokio::test]
async fn vbe_parameters_are_validated_without_a_load_balancer() {
    let mock = Mock::new();
    for backend_type in ["Pod", "Service", "Static"] {
        let request = |weight: &str| {
            json!({
                "backendType": backend_type,
                "lbInfo": null,
                "operation": "Update",
                "parameters": {"weight": weight},
                "OldParameters": {"weight": "10"},
            })
        };
        mock.succ("validateBackend", request("50")).await;
        assert_eq!(
            mock.rejected("validateBackend", request("-1")).await,
            r#"parameters.weight: "-1": not a whole number from 0 to 100"#
        );
    }
    mock.succ(
        "validateBackend",
        json!({"backendType": "Pod", "parameters": null}),
    )
    .await;
}

#[tokio::test]
async fn gen_addresses_depend_on_the_request_alone() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    for _ in 0..10 {
        let reply = mock
            .succ("generateBackendAddr", pod_address("10.0.0.1", 80))
            .await;
        assert_eq!(
            reply["backendAddr"],
            r#"{"ip":"10.0.0.1","port":80,"protocol":"TCP"}"#
        );
    }
    let message = mock
        .rejected("generateBackendAddr", pod_address("10.0.0.1", 0))
        .await;
    assert_eq!(message, "port 0: not a number from 1 to 65535");
    assert_eq!(mock.cloud.state(), before);
}

#[tokio::test]
async fn wire_10_a_large_pod_is_read() {
    let mock = Mock::new();
    let mut request = pod_address("10.0.0.1", 80);
    request["podBackend"]["pod"]["metadata"]["annotations"] =
        json!({"large": "x".repeat(256 << 10)});
    mock.succ("generateBackendAddr", request).await;
}

#[tokio::test]
async fn ens_02_b124_repeated_and_changed_parameters() {
    let mock = Mock::new();
    for weight in ["50", "50", "80"] {
        let parameters = json!({"weight": weight, "zone": "a"});
        mock.succ(
            "ensureBackend",
            backend(&sample(), "a:1", parameters.clone()),
        )
        .await;
        assert_eq!(
            mock.observe().await["loadBalancers"][0]["backends"],
            json!([{"addr": "a:1", "parameters": parameters}])
        );
    }
}

#[tokio::test]
async fn static_addresses_need_no_form() {
    let mock = Mock::new();
    for addr in ["1.1.1.1:8080", "my-web.com:8080"] {
        mock.succ(
            "ensureBackend",
            backend(&sample(), addr, json!({"weight": "50"})),
        )
        .await;
    }
    assert_eq!(mock.addresses().await, ["1.1.1.1:8080", "my-web.com:8080"]);
}

#[tokio::test]
async fn ens_08_a_failed_binding_has_a_reason() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    let message = async |lb_info: Value, addr: &str, weight: &str| {
        let request = backend(&lb_info, addr, json!({"weight": weight}));
        mock.rejected("ensureBackend", request).await
    };
    assert_eq!(
        message(json!({"lbID": "lb-x", "lblID": "l"}), "a:1", "1").await,
        "clb instance lb-x not found"
    );
    assert!(
        message(Value::Null, "a:1", "1")
            .await
            .starts_with("lbInfo.lbID: is missing")
    );
    assert!(
        message(sample(), "", "1")
            .await
            .starts_with("backendAddr: is empty")
    );
    assert!(
        message(sample(), "a:1", "101")
            .await
            .starts_with("parameters.weight")
    );
    assert_eq!(mock.cloud.state(), before);
}

#[tokio::test]
async fn ens_07_foreign_targets_stay_as_they_are() {
    let mock = Mock::new();
    let sample_endpoint = mock_driver::Endpoint {
        load_balancer: "lb-1234".into(),
        listener: "lbl-2234".into(),
        domain: None,
        url: None,
    };
    let by_hand = mock_driver::Target {
        weight: 3,
        parameters: [("owner".to_owned(), "somebody".to_owned())].into(),
        record_id: None,
    };
    mock.cloud.bind(&sample_endpoint, "vm", by_hand).unwrap();
    let before = mock.cloud.state();
    mock.succ(
        "ensureBackend",
        backend(&sample(), "a:1", json!({"weight": "1"})),
    )
    .await;
    mock.succ("deregisterBackend", backend(&sample(), "a:1", Value::Null))
        .await;
    assert_eq!(mock.cloud.state(), before);
}

#[tokio::test]
async fn drg_02_03_b124_what_is_not_registered_is_deregistered() {
    let mock = Mock::new();
    for lb_info in [
        sample(),
        Value::Null,
        json!({"lbID": "lb-x", "lblID": "l"}),
        json!({"lbID": "lb-1234"}),
    ] {
        for _ in 0..2 {
            mock.succ("deregisterBackend", backend(&lb_info, "never", Value::Null))
                .await;
        }
    }
}

#[tokio::test]
async fn d52_targets_are_listed_with_the_record_id_that_bound_them() {
    let mock = Mock::new();
    let list = |lb_info: Value| json!({"recordID": "l", "lbInfo": lb_info});
    let reply = mock.succ("listBackends", list(sample())).await;
    assert_eq!(reply, json!({"status": "Succ", "msg": ""}));
    let mut bound = backend(&sample(), "b:1", json!({"weight": "1"}));
    bound["recordID"] = "ensureBackend(1)".into();
    mock.succ("ensureBackend", bound.clone()).await;
    bound["parameters"] = json!({"weight": "2"});
    mock.succ("ensureBackend", bound).await;
    mock.post(
        "observe/foreign",
        json!({"lbInfo": sample(), "addr": "a:1"}),
    )
    .await;
    let before = mock.cloud.state();
    let reply = mock.succ("listBackends", list(sample())).await;
    assert_eq!(
        reply["backends"],
        json!([
            {"backendAddr": "a:1", "parameters": null},
            {"backendAddr": "b:1", "parameters": {"weight": "2"}, "recordID": "ensureBackend(1)"},
        ])
    );
    assert_eq!(mock.cloud.state(), before);
    mock.succ("deregisterBackend", backend(&sample(), "b:1", Value::Null))
        .await;
    let reply = mock.succ("listBackends", list(sample())).await;
    assert_eq!(
        reply["backends"],
        json!([{"backendAddr": "a:1", "parameters": null}])
    );
    let unknown = json!({"lbID": "lb-x", "lblID": "l"});
    let why = mock.rejected("listBackends", list(unknown)).await;
    assert!(why.contains("lb-x"), "{why}");
}

#[tokio::test]
async fn jpd_pods_that_ask_for_it_stay_registered() {
    let mock = Mock::new();
    let pod = |name: &str, metadata: Value| {
        let mut pod = json!({"metadata": metadata, "spec": {"containers": []}});
        pod["metadata"]["name"] = name.into();
        pod["metadata"]["namespace"] = "default".into();
        pod["metadata"]["uid"] = format!("uid-{name}").into();
        pod
    };
    let pods = [
        pod("a", json!({"annotations": {KEEP_REGISTERED: "true"}})),
        pod("b", json!({"labels": {KEEP_REGISTERED: "true"}})),
        pod("c", json!({"labels": {KEEP_REGISTERED: "false"}})),
        pod("d", json!({})),
    ];
    let reply = mock
        .succ("judgePodDeregister", json!({"notReadyPods": pods}))
        .await;
    let kept: Vec<_> = reply["doNotDeregister"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| (&pod["metadata"]["name"], &pod["metadata"]["uid"]))
        .collect();
    assert_eq!(
        kept,
        [
            (&json!("a"), &json!("uid-a")),
            (&json!("b"), &json!("uid-b"))
        ]
    );
    let none = mock
        .succ("judgePodDeregister", json!({"notReadyPods": null}))
        .await;
    assert_eq!(none["doNotDeregister"], json!([]));
}

#[tokio::test]
async fn gen_02_a_service_has_the_address_of_its_node() {
    let mock = Mock::new();
    let call = json!({
        "recordID": "g", "lbInfo": sample(), "parameters": null, "podBackend": null,
        "serviceBackend": {
            "service": {
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}]},
            },
            "port": {"portNumber": 80},
            "nodeName": "node-0",
            "nodeAddresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        },
    });
    let reply = mock.succ("generateBackendAddr", call).await;
    let expected = r#"{"ip":"10.1.0.1","port":30080,"protocol":"TCP"}"#;
    assert_eq!(reply["backendAddr"], expected);
}

#[tokio::test]
async fn gen_08_a_pod_without_an_address_is_asked_for_again() {
    let mock = Mock::new();
    let mut call = pod_address("10.0.0.1", 80);
    call["podBackend"]["pod"]["status"] = Value::Null;
    let response = mock.call("generateBackendAddr", call).await;
    assert_eq!(response["status"], "Running");
    assert_eq!(response["minRetryDelayInSeconds"], 2);
}

#[tokio::test]
async fn drg_08_a_backend_is_registered_again_after_an_aborted_try() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let request = backend(&created["lbInfo"], "a:1", json!({"weight": "1"}));
    mock.abort("ensureBackend", request.clone()).await;
    // The hook continues without its caller.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(mock.addresses().await, ["a:1"]);
    mock.succ("deregisterBackend", request.clone()).await;
    assert!(mock.addresses().await.is_empty());
    // The same call as the aborted one, whose result is no longer stored.
    mock.succ("ensureBackend", request).await;
    assert_eq!(mock.addresses().await, ["a:1"]);
}
