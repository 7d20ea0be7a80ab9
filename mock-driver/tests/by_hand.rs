//! Changes of the cloud behind the driver's back.

use crate::support::{Mock, backend, create, order, sample};
use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// A mock with one load balancer that LBCF uses, and its identity.
async fn with_load_balancer() -> (Mock, Value) {
    let mock = Mock::new();
    let reply = mock.succ("createLoadBalancer", create("1", order())).await;
    (mock, reply["lbInfo"].clone())
}

#[tokio::test]
async fn ens_07_a_foreign_backend_is_bound_and_survives() {
    let (mock, lb_info) = with_load_balancer().await;
    let planted = json!({"lbInfo": lb_info, "addr": "192.0.2.7:80"});
    let (status, seen) = mock.post("observe/foreign", planted.clone()).await;
    assert_eq!(status, StatusCode::OK, "{seen}");
    assert_eq!(seen, mock.observe().await);
    let foreign = json!({"addr": "192.0.2.7:80", "parameters": {}});
    assert_eq!(seen["loadBalancers"][0]["backends"], json!([foreign]));
    for _ in 0..2 {
        mock.succ(
            "ensureBackend",
            backend(&lb_info, "a:1", json!({"weight": "1"})),
        )
        .await;
        mock.succ("deregisterBackend", backend(&lb_info, "a:1", Value::Null))
            .await;
    }
    assert_eq!(mock.observe().await, seen);
    // Planting again must not make a registered one look foreign.
    let (status, reply) = mock.post("observe/foreign", planted).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(reply["error"], r#"addr: "192.0.2.7:80": is bound already"#);
}

#[tokio::test]
async fn ens_09_a_backend_unbound_by_hand_is_bound_again() {
    let (mock, lb_info) = with_load_balancer().await;
    let ensure = backend(&lb_info, "a:1", json!({"weight": "1"}));
    mock.succ("ensureBackend", ensure.clone()).await;
    let bound = mock.observe().await;
    let taken = json!({"lbInfo": lb_info, "addr": "a:1"});
    let (status, _) = mock.post("observe/unbind", taken.clone()).await;
    assert_eq!(status, StatusCode::OK);
    assert!(mock.addresses().await.is_empty());
    mock.succ("ensureBackend", ensure).await;
    assert_eq!(mock.observe().await, bound);
    mock.post("observe/unbind", taken.clone()).await;
    let (status, reply) = mock.post("observe/unbind", taken).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(reply["error"], r#"addr: "a:1": is not bound"#);
}

#[tokio::test]
async fn elb_05_attributes_that_drifted_are_repaired() {
    let (mock, lb_info) = with_load_balancer().await;
    let desired = mock.observe().await;
    let drift = json!({"lbInfo": lb_info, "attributes": {"bandwidth": "1"}});
    let (status, seen) = mock.post("observe/attributes", drift).await;
    assert_eq!(status, StatusCode::OK, "{seen}");
    assert_eq!(
        seen["loadBalancers"][0]["attributes"],
        json!({"bandwidth": "1"})
    );
    let attributes = &desired["loadBalancers"][0]["attributes"];
    let ensure = json!({"recordID": "e", "lbInfo": lb_info, "attributes": attributes});
    mock.succ("ensureLoadBalancer", ensure).await;
    assert_eq!(mock.observe().await, desired);
}

#[tokio::test]
async fn an_existing_one_can_be_changed_before_lbcf_uses_it() {
    let mock = Mock::new();
    let (status, _) = mock
        .post("observe/foreign", json!({"lbInfo": sample(), "addr": "vm"}))
        .await;
    assert_eq!(status, StatusCode::OK);
    mock.succ("createLoadBalancer", create("1", sample())).await;
    assert_eq!(mock.addresses().await, ["vm"]);
}

#[tokio::test]
async fn what_names_no_load_balancer_is_not_found() {
    let (mock, _) = with_load_balancer().await;
    let before = mock.cloud.state();
    for (lb_info, because) in [
        (
            json!({"lbID": "lb-x", "lblID": "l"}),
            "clb instance lb-x not found",
        ),
        (
            json!({"lbID": "lb-1234", "lblID": "l"}),
            "listener l of clb",
        ),
        (json!({"lbID": "lb-1234"}), "lblID is missing"),
        (json!({}), "lbInfo.lbID: is missing"),
    ] {
        for (path, extra, value) in [
            ("observe/foreign", "addr", json!("a:1")),
            ("observe/unbind", "addr", json!("a:1")),
            ("observe/attributes", "attributes", json!({"x": "y"})),
        ] {
            let mut body = json!({"lbInfo": lb_info});
            body[extra] = value;
            let (status, reply) = mock.post(path, body).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{path} {lb_info}");
            let error = reply["error"].as_str().unwrap();
            assert!(
                error.starts_with("lbInfo: names no load balancer: "),
                "{error}"
            );
            assert!(error.contains(because), "{error}");
        }
    }
    assert_eq!(mock.cloud.state(), before);
}

#[tokio::test]
async fn invalid_bodies_are_rejected_by_name_and_change_nothing() {
    let (mock, lb_info) = with_load_balancer().await;
    let before = mock.cloud.state();
    let with = |mut body: Value| {
        body["lbInfo"] = lb_info.clone();
        body.to_string()
    };
    for (path, body, message) in [
        ("observe/foreign", String::new(), "not JSON"),
        ("observe/foreign", "{".into(), "not JSON"),
        ("observe/foreign", "[]".into(), "an array"),
        ("observe/foreign", r#"{"addr": "a:1"}"#.into(), "`lbInfo`"),
        (
            "observe/foreign",
            r#"{"lbInfo": 5, "addr": "a:1"}"#.into(),
            "lbInfo: ",
        ),
        ("observe/foreign", with(json!({})), "`addr`"),
        ("observe/foreign", with(json!({"addr": 5})), "addr: "),
        ("observe/unbind", with(json!({"addr": ""})), "addr: "),
        ("observe/attributes", with(json!({})), "`attributes`"),
        (
            "observe/attributes",
            with(json!({"attributes": {"x": 5}})),
            "attributes.x: ",
        ),
        ("fault", "{}".into(), "`on`"),
        ("fault", r#"{"on": "yes"}"#.into(), "on: "),
    ] {
        let path = format!("/_mock/{path}");
        let (status, reply) = mock.send("POST", &path, Body::from(body.clone())).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path} {body}");
        let error = reply["error"].as_str().unwrap();
        assert!(error.contains(message), "{path} {body}: {error}");
    }
    for path in [
        "observe/foreign",
        "observe/unbind",
        "observe/attributes",
        "fault",
    ] {
        let large = Body::from(vec![b' '; (64 << 10) + 1]);
        let (status, reply) = mock.send("POST", &format!("/_mock/{path}"), large).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{path}");
        assert_eq!(reply["error"], "the body has more than 65536 bytes");
        let (status, _) = mock
            .send("DELETE", &format!("/_mock/{path}"), Body::empty())
            .await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
    assert_eq!(mock.cloud.state(), before);
    assert!(!mock.cloud.has_outage());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_times_out() {
    let mock = Mock::new();
    let (status, reply) = mock.send("POST", "/_mock/fault", endless()).await;
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
    assert!(reply["error"].as_str().unwrap().contains("10s"));
}

/// A body of which nothing ever comes.
fn endless() -> Body {
    struct Never;
    impl http_body::Body for Never {
        type Data = axum::body::Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
            std::task::Poll::Pending
        }
    }
    Body::new(Never)
}
