//! Failed calls, and the addresses of webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use local_cluster::LocalClusterOptions;
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, widget};
use crate::webhook::{Webhooks, configurations, plain};

const FAILED: &str = "failed calling webhook \"validate.example.com\": ";

/// Creates a widget, and expects a failed call with this message.
async fn fails(cluster: &local_cluster::LocalCluster, name: &str, expected: &str) -> String {
    let (status, body) = call(cluster, "POST", WIDGETS, Some(widget(name))).await;
    assert_eq!(status, 500, "{body}");
    assert_eq!(body["reason"], "InternalError");
    let message = body["message"].as_str().unwrap().to_owned();
    let why = message
        .strip_prefix("Internal error occurred: ")
        .unwrap()
        .to_owned();
    assert_eq!(body["details"], json!({"causes": [{"message": why}]}));
    let rest = why.strip_prefix(FAILED).unwrap();
    assert!(rest.contains(expected), "{rest}");
    rest.to_owned()
}

#[tokio::test]
async fn the_failure_policy_decides_about_an_unreachable_server() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let address = webhooks.address;
    webhooks
        .validate(&cluster, "/v", json!({"timeoutSeconds": 7}))
        .await;
    webhooks.end().await;
    let rest = fails(&cluster, "a", "dial tcp").await;
    assert_eq!(
        rest,
        format!(
            "failed to call webhook: Post \"https://{address}/v?timeout=7s\": dial tcp {address}: connect: connection refused"
        )
    );
    let path = format!("{}/validate", configurations("Validating"));
    let patch = json!([{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]);
    let (status, _) = crate::fixture::raw(
        &cluster,
        "PATCH",
        &path,
        "application/json-patch+json",
        patch.to_string().into_bytes(),
    )
    .await;
    assert_eq!(status, 200);
    let (status, _) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn a_webhook_has_a_timeout() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks
        .validate(&cluster, "/never", json!({"timeoutSeconds": 1}))
        .await;
    fails(
        &cluster,
        "a",
        "/never?timeout=1s\": context deadline exceeded",
    )
    .await;
    assert_eq!(webhooks.calls()[0].query, "timeout=1s");
    let path = format!("{}/validate", configurations("Validating"));
    assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
    let passed_over = json!({"timeoutSeconds": 1, "failurePolicy": "Ignore"});
    webhooks.validate(&cluster, "/never", passed_over).await;
    let (status, _) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn an_invalid_response_counts_as_a_failed_call() {
    let respond = |call: &crate::webhook::WebhookCall| match call.at("/object/metadata/name") {
        "uid" => call.respond(json!({"response": {"uid": "other"}})),
        "untyped" => call.respond(json!({"apiVersion": null, "kind": null})),
        "empty" => plain(StatusCode::OK, ""),
        "text" => plain(StatusCode::OK, "it works!"),
        "huge" => plain(StatusCode::OK, vec![b' '; 4 * 1024 * 1024]),
        "broken" => plain(StatusCode::INTERNAL_SERVER_ERROR, "broken"),
        "moved" => plain(StatusCode::FOUND, ""),
        "patch" => call.patch(json!([])),
        _ => call.allow(),
    };
    let cases = [
        (
            "uid",
            "received invalid webhook response: expected response.uid=\"",
        ),
        (
            "untyped",
            "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
        (
            "empty",
            "failed to call webhook: 0-length response with status code: 200",
        ),
        (
            "text",
            "failed to call webhook: couldn't get version/kind; json parse error: ",
        ),
        ("huge", "the response is larger than 3145728 bytes"),
        (
            "broken",
            "failed to call webhook: the server responded with the status code 500: \"broken\"",
        ),
        (
            "moved",
            "failed to call webhook: the server responded with the status code 302: \"\"",
        ),
        (
            "patch",
            "received invalid webhook response: validating webhook may not return response.patch",
        ),
    ];
    let strict = cluster(quick()).await;
    let webhooks = Webhooks::start(respond).await;
    webhooks.validate(&strict, "/v", json!({})).await;
    let lenient = cluster(quick()).await;
    let ignore = json!({"failurePolicy": "Ignore"});
    webhooks.validate(&lenient, "/v", ignore).await;
    for (name, expected) in cases {
        fails(&strict, name, expected).await;
        let (status, _) = call(&lenient, "POST", WIDGETS, Some(widget(name))).await;
        assert_eq!(status, 201, "{name}");
    }
}

#[tokio::test]
async fn only_the_ca_bundle_is_trusted() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let stranger = Webhooks::start(|call| call.allow()).await;
    let port = webhooks.address.port();
    let unknown =
        "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    for (name, change, expected) in [
        (
            "stranger",
            json!({"caBundle": STANDARD.encode(&stranger.authority)}),
            unknown,
        ),
        // The system does not trust the CA of a test.
        ("none", json!({"caBundle": null}), unknown),
        (
            "name",
            json!({"url": format!("https://localhost:{port}/v")}),
            "tls: failed to verify certificate: x509: certificate not valid for name \"localhost\"",
        ),
        (
            "placeholder",
            json!({"caBundle": "Cg=="}),
            "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block",
        ),
    ] {
        let change = json!({"clientConfig": change});
        webhooks.validate(&cluster, "/v", change).await;
        fails(&cluster, name, expected).await;
        let path = format!("{}/validate", configurations("Validating"));
        assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
    }
    assert!(webhooks.calls().is_empty());
}

#[tokio::test]
async fn a_server_without_tls_is_reported() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("https://{}/v", server.addr());
    let change = json!({"clientConfig": {"url": url}});
    webhooks.validate(&cluster, "/v", change).await;
    fails(
        &cluster,
        "a",
        "tls: first record does not look like a TLS handshake",
    )
    .await;
}

fn behind(service: &str) -> Value {
    let service = json!({"name": service, "namespace": "default", "path": "/v"});
    json!({"clientConfig": {"url": null, "service": service}})
}

#[tokio::test]
async fn services_are_resolved_by_the_options() {
    let webhooks = Webhooks::start(|call| call.allow()).await;
    let known = ("hooks.default.svc", webhooks.address.to_string());
    let cluster = cluster(LocalClusterOptions {
        service_addresses: [(known.0.to_owned(), known.1.clone())].into(),
        ..quick()
    })
    .await;
    webhooks.validate(&cluster, "/", behind("hooks")).await;
    let (status, body) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(status, 201, "{body}");
    assert_eq!(webhooks.calls()[0].path, "/v");

    // The service moves.
    let next = Webhooks::start(|call| call.deny(json!({"message": "moved"}))).await;
    cluster.set_service_address(known.0, next.address.to_string());
    fails(&cluster, "b", "certificate signed by unknown authority").await;
    cluster.set_service_address(known.0, known.1);
    let (status, _) = call(&cluster, "POST", WIDGETS, Some(widget("b"))).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn a_service_needs_an_address_and_a_certificate_for_its_name() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.validate(&cluster, "/", behind("other")).await;
    let rest = fails(
        &cluster,
        "a",
        "service \"other.default.svc\" has no address",
    )
    .await;
    assert!(rest.contains("Post \"https://other.default.svc:443/v?timeout=10s\""));
    cluster.set_service_address("other.default.svc", webhooks.address.to_string());
    fails(
        &cluster,
        "a",
        "certificate not valid for name \"other.default.svc\"",
    )
    .await;
}

#[tokio::test]
async fn connections_are_reused() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    for name in ["a", "b", "c"] {
        let (status, _) = call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
        assert_eq!(status, 201);
    }
    assert_eq!((webhooks.calls().len(), webhooks.connections()), (6, 1));
}
