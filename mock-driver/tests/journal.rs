//! The journal: bodies, filters, waiting, the stream and the export.

use crate::support::{Mock, backend, create, order, sample};
use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(60);

async fn get(mock: &Mock, path: &str) -> (StatusCode, Value) {
    mock.send("GET", &format!("/_mock/{path}"), Body::empty())
        .await
}

#[tokio::test]
async fn a_call_is_kept_with_its_bodies() {
    let mock = Mock::new();
    let addr = r#"{"ip":"10.0.0.1","port":80,"protocol":"TCP"}"#;
    let request = backend(&sample(), addr, Value::Null);
    mock.succ("ensureBackend", request.clone()).await;
    let (_, list) = get(&mock, "requests").await;
    assert_eq!(list["requests"][0].get("request"), None);
    let (status, call) = get(&mock, "requests/1").await;
    assert_eq!(status, StatusCode::OK);
    let text = |field: &str| call[field].as_str().unwrap().to_owned();
    assert_eq!(text("loadBalancer"), "lb-1234/lbl-2234");
    assert_eq!(text("address"), "10.0.0.1:80");
    assert_eq!(
        serde_json::from_str::<Value>(&text("request")).unwrap(),
        request
    );
    assert!(text("response").contains("Succ"));
    assert_eq!(call["httpStatus"], 200);
    assert!(call["micros"].is_u64());
    text("time").parse::<jiff::Timestamp>().unwrap();
    let (_, all) = get(&mock, "requests?bodies=true").await;
    assert_eq!(all["requests"][0], call);
    for number in ["2", "x"] {
        let (status, reply) = get(&mock, &format!("requests/{number}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(reply["error"].as_str().unwrap().contains(number), "{reply}");
    }
}

#[tokio::test]
async fn a_creation_is_found_by_the_identity_that_it_returned() {
    let mock = Mock::new();
    mock.succ("createLoadBalancer", create("1", order())).await;
    let (_, found) = get(&mock, "requests?loadBalancer=lb-00000001*").await;
    assert_eq!(found["requests"][0]["webhook"], "createLoadBalancer");
}

#[tokio::test]
async fn malformed_calls_are_kept_and_not_counted() {
    let mock = Mock::new();
    let (status, _) = mock.send("POST", "/ensureBackend", Body::from("{")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (_, list) = get(&mock, "requests?bodies=true").await;
    let call = &list["requests"][0];
    assert_eq!(
        (&call["status"], &call["request"]),
        (&"Rejected".into(), &"{".into())
    );
    assert!(call["msg"].as_str().unwrap().contains("not JSON"), "{call}");
    assert_eq!(list["counts"], json!({}));
}

#[tokio::test]
async fn waiting_ends_with_the_call_that_completes_the_count() {
    let mock = Mock::new();
    let waiting = get(&mock, "requests/wait?webhook=ensure*&count=2&timeout=60s");
    let calls = async {
        for addr in ["a:1", "b:1"] {
            mock.succ("validateBackend", json!({})).await;
            mock.succ("ensureBackend", backend(&sample(), addr, Value::Null))
                .await;
        }
    };
    let ((status, reply), ()) = tokio::join!(waiting, calls);
    assert_eq!(status, StatusCode::OK);
    assert_eq!(reply["requests"].as_array().unwrap().len(), 2);
    assert_eq!(reply["counts"]["ensureBackend"], 2);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_after_its_time_with_what_it_has_seen() {
    let mock = Mock::new();
    mock.succ("validateBackend", json!({})).await;
    let begin = tokio::time::Instant::now();
    let (status, reply) = get(&mock, "requests/wait?count=3&timeout=20s").await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(reply["error"], "1 of 3 calls came within 20s");
    assert_eq!(begin.elapsed(), Duration::from_secs(20));
}

#[tokio::test]
async fn wrong_queries_are_refused() {
    let mock = Mock::new();
    for (path, expected) in [
        ("requests?since=x", "since: invalid digit"),
        ("requests?webook=x", "did you mean webhook?"),
        ("requests?fault=maybe", "fault: "),
        ("requests/stream?since=-1", "since: "),
        ("requests/export?record=x", "record"),
        (
            "requests/wait?timeout=soon",
            "timeout: \"soon\": not a duration",
        ),
        (
            "requests/wait?timeout=11m",
            "timeout: \"11m\": longer than 10m",
        ),
        ("requests/wait?count=-1", "count: "),
    ] {
        let (status, reply) = get(&mock, path).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}");
        let error = reply["error"].as_str().unwrap();
        assert!(error.contains(expected), "{path}: {error}");
    }
}

/// The next event of a stream, as text.
async fn event(body: &mut Body) -> String {
    let frame = timeout(LIMIT, body.frame())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn the_stream_has_each_call_once_and_resumes() {
    let mock = Mock::new();
    mock.succ("validateBackend", json!({})).await;
    let response = mock
        .response("GET", "/_mock/requests/stream", Body::empty())
        .await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut live = response.into_body();
    let next = tokio::join!(event(&mut live), async {
        mock.succ("ensureBackend", backend(&sample(), "a:1", Value::Null))
            .await;
        mock.succ("deregisterBackend", backend(&sample(), "a:1", Value::Null))
            .await;
    });
    assert!(
        next.0.contains("id: 2\n") && next.0.contains("event: call\n"),
        "{}",
        next.0
    );
    assert!(
        next.0.contains("\"webhook\":\"ensureBackend\""),
        "{}",
        next.0
    );
    assert!(!next.0.contains("\"request\""), "{}", next.0);
    assert!(event(&mut live).await.contains("id: 3\n"));

    let path = "/_mock/requests/stream?since=0&webhook=*Backend&bodies=true";
    let mut from_start = mock.response("GET", path, Body::empty()).await.into_body();
    for id in 1..=3 {
        let text = event(&mut from_start).await;
        assert!(
            text.contains(&format!("id: {id}\n")) && text.contains("\"request\""),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_export_has_everything_to_send_the_calls_again() {
    let mock = Mock::new();
    mock.succ("validateBackend", json!({"parameters": {"weight": "7"}}))
        .await;
    let (_, journal) = get(&mock, "requests/export").await;
    assert_eq!(journal["kind"], "CallJournal");
    assert_eq!(
        journal["calls"][0]["request"],
        r#"{"parameters":{"weight":"7"}}"#
    );
}

#[tokio::test]
async fn the_clock_moves_forward_by_hand() {
    let mock = Mock::with_stages_of(Duration::from_secs(3600));
    let reply = mock.call("createLoadBalancer", create("1", order())).await;
    assert_eq!(reply["status"], "Running");
    let (status, now) = mock.post("clock/advance", json!({"seconds": 7200.5})).await;
    assert_eq!((status, now), (StatusCode::OK, json!({"seconds": 7200.5})));
    assert_eq!(get(&mock, "clock").await.1, json!({"seconds": 7200.5}));
    mock.succ("createLoadBalancer", create("1", order())).await;
    for body in [
        json!({}),
        json!({"seconds": -1}),
        json!({"seconds": 1e12}),
        json!({"seconds": "1"}),
        json!({"second": 1}),
        json!([]),
    ] {
        let (status, reply) = mock.post("clock/advance", body.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(reply["error"].as_str().unwrap().len() > 10, "{reply}");
    }
}

#[tokio::test]
async fn the_state_is_replaced_and_shown_in_one_format() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    mock.succ(
        "ensureBackend",
        backend(&created["lbInfo"], "a:1", Value::Null),
    )
    .await;
    let (_, before) = get(&mock, "state").await;
    let (status, gone) = mock
        .send("DELETE", "/_mock/loadbalancers/lb-00000001", Body::empty())
        .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(gone["loadBalancers"].as_array().unwrap().len(), 3);
    let again = mock
        .send("DELETE", "/_mock/loadbalancers/lb-00000001", Body::empty())
        .await;
    assert_eq!(again.0, StatusCode::NOT_FOUND);
    assert!(again.1["error"].as_str().unwrap().contains("lb-00000001"));
    for (body, expected) in [
        ("", "not JSON"),
        ("[]", "must be an object"),
        (r#"{"version": 2}"#, "version 2"),
        (
            r#"{"loadBalancers": [{"id": "a", "listeners": [{"id": "b", "protocol": "TCP", "port": 0}]}]}"#,
            "port: 0",
        ),
    ] {
        let (status, reply) = mock.send("PUT", "/_mock/state", Body::from(body)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(
            reply["error"].as_str().unwrap().contains(expected),
            "{body}: {reply}"
        );
    }
    assert_eq!(get(&mock, "state").await.1, gone);
    let (status, restored) = mock
        .send("PUT", "/_mock/state", Body::from(before.to_string()))
        .await;
    assert_eq!((status, &restored), (StatusCode::OK, &before));
    // The driver finds what it created.
    assert_eq!(
        mock.succ("createLoadBalancer", create("1", order())).await["lbInfo"],
        created["lbInfo"]
    );
    assert_eq!(mock.addresses().await, ["a:1"]);
}
