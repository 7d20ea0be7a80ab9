//! Webhook configurations.

use serde_json::{Value, json};

use crate::fixture::{call, cluster, quick};
use crate::webhook::{Webhooks, configuration, configurations, install};

#[tokio::test]
async fn defaults_are_set() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    for (which, name, reinvocation) in [
        ("Mutating", "mutate", json!("Never")),
        ("Validating", "validate", Value::Null),
    ] {
        let path = format!("{}/{name}", configurations(which));
        let (_, stored) = call(&cluster, "GET", &path, None).await;
        assert_eq!(stored["metadata"]["generation"], 1);
        let webhook = &stored["webhooks"][0];
        for (field, value) in [
            ("failurePolicy", json!("Fail")),
            ("matchPolicy", json!("Equivalent")),
            ("timeoutSeconds", json!(10)),
            ("namespaceSelector", json!({})),
            ("objectSelector", json!({})),
            ("reinvocationPolicy", reinvocation),
        ] {
            assert_eq!(webhook[field], value, "{field}");
        }
        assert_eq!(webhook["rules"][0]["scope"], "*");
    }
}

#[tokio::test]
async fn invalid_configurations_are_rejected() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let bad = webhooks.webhook("short", "/v", json!({"sideEffects": "Some"}));
    let body = configuration("Validating", "bad", std::slice::from_ref(&bad));
    let path = configurations("Validating");
    let (status, rejected) = call(&cluster, "POST", &path, Some(body)).await;
    assert_eq!(status, 422);
    let message = rejected["message"].as_str().unwrap();
    assert!(
        message.starts_with(
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io \"bad\" is invalid: ["
        ),
        "{message}"
    );
    let fields: Vec<&str> = rejected["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| cause["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["webhooks[0].name", "webhooks[0].sideEffects"]);
    // Types are checked before that.
    let typed = webhooks.webhook("a.x.y", "/v", json!({"clientConfig": {"caBundle": "?"}}));
    let body = configuration("Mutating", "typed", &[typed]);
    let (status, _) = call(&cluster, "POST", &configurations("Mutating"), Some(body)).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn a_configuration_is_effective_from_its_creation_to_its_deletion() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.deny(json!({}))).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let create = |name: &str| {
        let body = json!({"metadata": {"name": name}});
        let cluster = &cluster;
        async move { call(cluster, "POST", maps, Some(body)).await.0.as_u16() }
    };
    assert_eq!(create("a").await, 201);
    let rule = json!({
        "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
        "resources": ["configmaps"],
    });
    let webhook = webhooks.webhook("a.x.y", "/v", json!({"rules": [rule]}));
    install(&cluster, "Validating", "v", &[webhook]).await;
    assert_eq!(create("b").await, 400);
    let path = format!("{}/v", configurations("Validating"));
    let nothing = json!({"webhooks": []});
    let (_, emptied) = call(&cluster, "PATCH", &path, Some(nothing)).await;
    assert_eq!(emptied["metadata"]["generation"], 2);
    assert_eq!(create("b").await, 201);
    assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
    assert_eq!(create("c").await, 201);
}
