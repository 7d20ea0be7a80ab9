//! What is no proper call harms nothing.

use crate::support::{Mock, backend, sample};
use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};

const WEBHOOKS: [&str; 10] = [
    "validateLoadBalancer",
    "createLoadBalancer",
    "ensureLoadBalancer",
    "deleteLoadBalancer",
    "validateBackend",
    "generateBackendAddr",
    "ensureBackend",
    "deregisterBackend",
    "judgePodDeregister",
    "listBackends",
];

#[tokio::test]
async fn bad_01_to_05_malformed_requests_change_nothing() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    for webhook in WEBHOOKS {
        let path = format!("/{webhook}");
        for body in [
            "",
            "{",
            "[]",
            "null",
            "7",
            r#"{"dryRun": "perhaps"}"#,
            "\u{0}",
        ] {
            let (status, reply) = mock.send("POST", &path, Body::from(body)).await;
            assert!(status.is_client_error(), "{webhook} {body:?}: {status}");
            assert!(reply["error"].is_string(), "{reply}");
        }
        let (status, _) = mock.send("GET", &path, Body::empty()).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    }
    let (status, _) = mock.send("POST", "/ensureBackends", Body::from("{}")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let large = Body::from(vec![b' '; 10 << 20]);
    let (status, _) = mock.send("POST", "/ensureBackend", large).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(mock.cloud.state(), before);
    mock.succ("ensureBackend", backend(&sample(), "a", Value::Null))
        .await;
}

#[tokio::test]
async fn wire_07_08_null_and_unknown_fields_are_fine() {
    let mock = Mock::new();
    let all_null = json!({
        "recordID": "r", "retryID": null, "dryRun": null, "lbInfo": null, "attributes": null,
        "backendAddr": null, "parameters": null, "injectedInfo": null, "notReadyPods": null,
        "lbAttributes": null, "oldAttributes": null, "future": {"x": [1]},
    });
    for webhook in [
        "deleteLoadBalancer",
        "validateBackend",
        "deregisterBackend",
        "judgePodDeregister",
    ] {
        mock.succ(webhook, all_null.clone()).await;
    }
    for webhook in ["ensureLoadBalancer", "generateBackendAddr", "ensureBackend"] {
        assert!(!mock.rejected(webhook, all_null.clone()).await.is_empty());
    }
}
