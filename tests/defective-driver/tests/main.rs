//! Names of defects, and what the matrix of the conformance kit (`tests/conformance/tests/matrix.rs`)
//! does not show: that each defect is failed by exactly the checks that it names.
#![allow(
    clippy::unwrap_used,
    reason = "tests state what they expect by unwrapping, in their helpers too"
)]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use lbcf_defective_driver::{Defect, Defects};
use mock_driver::azure::AzureDriver;
use mock_driver::{ClbDriver, Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::ServiceExt;

async fn call(router: &Router, webhook: &str, body: &Value) -> (StatusCode, Value) {
    let request = Request::post(format!("/{webhook}"));
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn a03_a28_the_wrong_order_is_refused_by_the_cloud() {
    for (defects, status) in [(&[][..], "Succ"), (&[Defect::AzureWrongOrder], "Fail")] {
        let driver = AzureDriver::new(Cloud::azure(), MockOptions::default());
        let router = mock_driver::router_with(driver, Defects::new(defects.iter().copied()));
        let spec = json!({"service": "default/web", "port": "80"});
        let create = json!({"recordID": "createLoadBalancer(1)", "lbSpec": spec});
        let (_, created) = call(&router, "createLoadBalancer", &create).await;
        let lb_info = &created["lbInfo"];
        let delete = json!({"recordID": "deleteLoadBalancer(1)", "lbInfo": lb_info});
        let (_, deleted) = call(&router, "deleteLoadBalancer", &delete).await;
        assert_eq!(deleted["status"], status, "{deleted}");
        if status == "Fail" {
            let message = deleted["msg"].as_str().unwrap();
            let reason = "PublicIPAddressCannotBeDeleted";
            assert!(message.contains(reason), "{message}");
        }
    }
}

/// A request of the original's controller, which forgets what is not set.
#[tokio::test]
async fn a_request_without_parameters_needs_them_too() {
    let pod = json!({"metadata": {"name": "web-0"}, "status": {"podIP": "10.0.0.1"}});
    let request = json!({
        "recordID": "generateBackendAddr(1)", "retryID": "1", "lbInfo": {},
        "podBackend": {"pod": pod, "port": {"portNumber": 80, "protocol": "TCP"}},
    });
    for (defects, status) in [
        (&[][..], StatusCode::OK),
        (
            &[Defect::NeedsParameters],
            StatusCode::INTERNAL_SERVER_ERROR,
        ),
    ] {
        let driver = ClbDriver::new(Cloud::with_samples(), MockOptions::default());
        let router = mock_driver::router_with(driver, Defects::new(defects.iter().copied()));
        let (found, reply) = call(&router, "generateBackendAddr", &request).await;
        assert_eq!(found, status, "{reply}");
    }
}

#[test]
fn ids_are_unique_and_read_again() {
    let ids: BTreeSet<_> = Defect::ALL.iter().map(|defect| defect.id()).collect();
    assert_eq!(ids.len(), Defect::ALL.len());
    assert!(ids.len() >= 183);
    for defect in Defect::ALL {
        assert_eq!(defect.id().parse(), Ok(*defect));
        let spelled = |byte: u8| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
        assert!(defect.id().bytes().all(spelled), "{defect}");
        let checks: BTreeSet<_> = defect.found_by().iter().collect();
        assert_eq!(checks.len(), defect.found_by().len(), "{defect}");
        assert!(!defect.about().ends_with('.'), "{defect}");
    }
    for bad in ["", "String-Delay", "nothing", &"x".repeat(100_000)] {
        let error = bad.parse::<Defect>().unwrap_err();
        assert!(error.to_string().contains("--list-defects"), "{error}");
        assert!(error.to_string().len() < 400, "{error}");
    }
}

#[tokio::test]
async fn a_driver_that_bad_json_crashes_stops_listening() {
    let defects = Defects::new([Defect::DiesOnBadJson]);
    let any_port = "127.0.0.1:0".parse().unwrap();
    let server = MockServer::start_with(Cloud::empty(), any_port, MockOptions::default(), defects);
    let server = server.await.unwrap();
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let request = b"POST /ensureBackend HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\n{";
    stream.write_all(request).await.unwrap();
    let limit = Duration::from_secs(10);
    timeout(limit, server.crashed()).await.unwrap();
    let mut rest = Vec::new();
    // The connection ends, with a reply before or without.
    let _ = timeout(limit, stream.read_to_end(&mut rest)).await.unwrap();
    let refused = async {
        while TcpStream::connect(server.addr()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(limit, refused).await.unwrap();
    server.stop().await;
}
