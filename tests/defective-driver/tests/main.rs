//! Each defect shows in a driver that has it, and not in one that does not.
#![allow(
    clippy::unwrap_used,
    reason = "tests state what they expect by unwrapping, in their helpers too"
)]

mod addresses;
mod backends;
mod calls;
mod load_balancers;
#[allow(dead_code, reason = "the mock driver's own tests use all of it")]
#[path = "../../../mock-driver/tests/support.rs"]
mod support;
mod trial;
mod wire;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use lbcf_defective_driver::{Defect, Defects};
use mock_driver::azure::AzureDriver;
use mock_driver::{Cloud, MockOptions, MockServer};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::ServiceExt;

/// Needs an outage of the cloud, and has a unit test; needs another cloud, and has a test below.
const TESTED_INSIDE: [Defect; 2] = [Defect::CloudFault500, Defect::AzureWrongOrder];

/// Whether a driver with these defects shows `defect`; none if no test covers it.
async fn misbehaves(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let mut reply = wire::misbehaves(defect, defects).await;
    if reply.is_none() {
        reply = load_balancers::misbehaves(defect, defects).await;
    }
    if reply.is_none() {
        reply = backends::misbehaves(defect, defects).await;
    }
    if reply.is_none() {
        reply = addresses::misbehaves(defect, defects).await;
    }
    if reply.is_none() {
        reply = calls::misbehaves(defect, defects).await;
    }
    reply
}

// Time is paused, so that slow defects take no time.
#[tokio::test(start_paused = true)]
async fn every_defect_shows_and_the_right_driver_has_none() {
    let mut wrong = Vec::new();
    for defect in Defect::ALL {
        if TESTED_INSIDE.contains(defect) {
            continue;
        }
        if misbehaves(*defect, &[]).await != Some(false) {
            wrong.push(format!("{defect} shows in the right mock, or has no test"));
        }
        if misbehaves(*defect, &[*defect]).await != Some(true) {
            wrong.push(format!("{defect} does not show"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a03_a28_the_wrong_order_is_refused_by_the_cloud() {
    for (defects, status) in [(&[][..], "Succ"), (&[Defect::AzureWrongOrder], "Fail")] {
        let driver = AzureDriver::new(Cloud::azure(), MockOptions::default());
        let defects = Defects::new(defects.iter().copied());
        let router = mock_driver::router_with(driver, defects);
        let call = async |webhook: &str, body: serde_json::Value| {
            let request = Request::post(format!("/{webhook}"));
            let request = request.body(Body::from(body.to_string())).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
            serde_json::from_slice::<serde_json::Value>(&body).unwrap()
        };
        let spec = json!({"service": "default/web", "port": "80"});
        let create = json!({"recordID": "createLoadBalancer(1)", "lbSpec": spec});
        let created = call("createLoadBalancer", create).await;
        let lb_info = &created["lbInfo"];
        let delete = json!({"recordID": "deleteLoadBalancer(1)", "lbInfo": lb_info});
        let deleted = call("deleteLoadBalancer", delete).await;
        assert_eq!(deleted["status"], status, "{deleted}");
        if status == "Fail" {
            let message = deleted["msg"].as_str().unwrap();
            assert!(
                message.contains("PublicIPAddressCannotBeDeleted"),
                "{message}"
            );
        }
    }
}

/// The checks of the conformance kit that a driver must pass.
fn must() -> BTreeSet<String> {
    let groups = [
        ("WIRE", vec![1, 2, 3, 4, 6, 7, 8, 9, 10]),
        ("HLTH", vec![1]),
        ("VLB", vec![1, 2, 3, 4]),
        ("CLB", vec![1, 2, 3, 4, 5]),
        ("ELB", vec![1, 2, 3]),
        ("DLB", vec![1, 2, 3, 4]),
        ("VBE", vec![1, 2, 3, 4, 5]),
        ("GEN", vec![1, 2, 3, 4, 5, 6, 9, 10]),
        ("ENS", vec![1, 2, 3, 4, 5, 6, 7]),
        ("DRG", vec![1, 2, 3, 4, 5, 6, 7]),
        ("JPD", vec![1, 2, 3]),
        ("LST", vec![1, 2, 3, 4, 5, 6]),
        ("ASYN", vec![1, 2, 3]),
        ("RTRY", vec![1, 2, 3]),
        ("DRY", vec![1, 2, 3, 4]),
        ("CONC", vec![1, 2, 3, 4]),
        ("BAD", vec![5]),
        ("LIFE", vec![1, 2, 3]),
        ("LAT", vec![1]),
    ];
    let ids = groups.into_iter().flat_map(|(group, numbers)| {
        let id = move |number| format!("{group}-{number:02}");
        numbers.into_iter().map(id)
    });
    ids.collect()
}

fn found() -> BTreeSet<String> {
    let checks = Defect::ALL.iter().flat_map(|defect| defect.found_by());
    checks.map(|check| (*check).to_owned()).collect()
}

#[test]
fn every_check_that_a_driver_must_pass_finds_a_defect() {
    let must = must();
    assert_eq!(must.len(), 81);
    let missing: Vec<_> = must.difference(&found()).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    // Of the SHOULD checks, one finds no defect: it needs a driver without the webhook.
    let should: BTreeSet<_> = found().difference(&must).cloned().collect();
    assert_eq!(should.len(), 35, "{should:?}");
    assert!(!should.contains("JPD-04"));
}

#[test]
fn ids_are_unique_and_read_again() {
    let ids: BTreeSet<_> = Defect::ALL.iter().map(|defect| defect.id()).collect();
    assert_eq!(ids.len(), Defect::ALL.len());
    assert!(ids.len() >= 60);
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
    let request = b"POST /ensureBackend HTTP/1.1\r\nhost: mock\r\ncontent-length: 1\r\n\r\n{";
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
