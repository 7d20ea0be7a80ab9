//! Invalid calls get a 4xx status with a JSON error, and have no effect.

use crate::support::{ensure, ok, post, read, send, stage};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Method, Request, StatusCode, header};
use lbcf_driver_sdk::webhook::{ALL, Class};
use serde_json::json;
use std::pin::Pin;
use std::task::{Context, Poll};

#[tokio::test]
async fn bodies_other_than_json_objects_are_refused_by_every_webhook() {
    let (router, stage) = stage();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_map = format!("{}1{}", "{\"lbInfo\":".repeat(500), "}".repeat(500));
    let bodies: [&[u8]; 14] = [
        b"{",
        b"not json",
        b"{} {}",
        b"{\"recordID\": \"\xff\xfe\"}",
        b"\xff\xfe\x00",
        b"null",
        b"true",
        b"[]",
        b"[{}]",
        b"\"{}\"",
        b"12",
        b"{\"recordID\": 1e999}",
        deep.as_bytes(),
        deep_map.as_bytes(),
    ];
    for webhook in ALL {
        for body in bodies {
            let path = format!("/{}", webhook.name);
            let (status, answer) = post(&router, &path, Bytes::copy_from_slice(body)).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{path} {answer}");
            assert!(!answer["error"].as_str().unwrap().is_empty());
        }
        if webhook.class != Class::Health {
            let (status, _) = post(&router, &format!("/{}", webhook.name), "").await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{}", webhook.name);
        }
    }
    assert!(stage.log().is_empty());
    assert_eq!(
        ok(&router, "/ensureBackend", &ensure("1", json!({}))).await["status"],
        "Succ"
    );
}

#[tokio::test]
async fn a_wrong_type_is_refused_with_the_name_of_its_field() {
    let (router, stage) = stage();
    let addr = "/generateBackendAddr";
    for (path, body, field) in [
        ("/ensureBackend", json!({"recordID": 1}), "recordID"),
        ("/ensureBackend", json!({"dryRun": "yes"}), "dryRun"),
        ("/ensureBackend", json!({"lbInfo": []}), "lbInfo"),
        (
            "/ensureBackend",
            json!({"parameters": {"weight": 50}}),
            "parameters.weight",
        ),
        (
            "/createLoadBalancer",
            json!({"lbSpec": {"a": {"b": "c"}}}),
            "lbSpec.a",
        ),
        ("/validateBackend", json!({"operation": 1}), "operation"),
        (
            "/validateBackend",
            json!({"OldParameters": 1}),
            "oldParameters",
        ),
        (
            "/judgePodDeregister",
            json!({"notReadyPods": {}}),
            "notReadyPods",
        ),
        (
            "/judgePodDeregister",
            json!({"notReadyPods": [1]}),
            "notReadyPods",
        ),
        (addr, json!({"podBackend": []}), "podBackend"),
        (addr, json!({"podBackend": {}}), "podBackend"),
        (
            addr,
            json!({"podBackend": {"pod": {}, "port": {"port": 99_999_999_999_u64}}}),
            "podBackend.port",
        ),
        (
            addr,
            json!({"podBackend": {"pod": {}, "port": {"port": 80, "protocol": "ICMP"}}}),
            "podBackend.port",
        ),
        (
            addr,
            json!({"podBackend": {"pod": {"spec": 1}, "port": {"port": 80}}}),
            "podBackend.pod",
        ),
    ] {
        let (status, answer) = post(&router, path, body.to_string()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with(field), "{body}: {error}");
    }
    assert!(stage.log().is_empty());
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_one_below_is_read() {
    let (router, stage) = stage();
    for webhook in ALL {
        let path = format!("/{}", webhook.name);
        let (status, answer) = post(&router, &path, vec![b' '; (4 << 20) + 1]).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        assert!(answer["error"].as_str().unwrap().contains("4194304"));
    }
    assert!(stage.log().is_empty());
    let mut large = ensure("1", json!({}));
    large["unknown"] = "x".repeat(4_000_000).into();
    assert_eq!(
        ok(&router, "/ensureBackend", &large).await["status"],
        "Succ"
    );
}

#[tokio::test]
async fn another_method_is_405_with_what_is_allowed() {
    let (router, stage) = stage();
    for webhook in ALL {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
            if webhook.class == Class::Health && method == Method::GET {
                continue;
            }
            let request = Request::builder()
                .method(method)
                .uri(format!("/{}", webhook.name))
                .body(Body::from("{}"))
                .unwrap();
            let response = send(&router, request).await;
            let allow = response.headers()[header::ALLOW].to_str().unwrap();
            assert!(allow.contains("POST"), "{allow}");
            let (status, answer) = read(response).await;
            assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
            assert!(answer["error"].as_str().unwrap().contains("POST"));
        }
    }
    assert!(stage.log().is_empty());
}

#[tokio::test]
async fn another_path_is_404_with_the_known_webhooks() {
    let (router, _) = stage();
    for path in [
        "/",
        "/ensurebackend",
        "/ensureBackend/",
        "/a/ensureBackend",
        "/%00",
    ] {
        let (status, answer) = post(&router, path, "{}").await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        let error = answer["error"].as_str().unwrap();
        for webhook in ALL {
            assert!(error.contains(webhook.name), "{error}");
        }
    }
}

/// A body that never arrives.
struct Never;

impl HttpBody for Never {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_comes_is_408() {
    let (router, _) = stage();
    let (status, _) = post(&router, "/ensureBackend", Body::new(Never)).await;
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
}
