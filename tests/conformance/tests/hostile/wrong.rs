//! Drivers that send HTTP responses with invalid contents.

use super::judged::{assert_failed, judged_responsive, result};
use super::server::{Act, Server};
use lbcf_conformance::report::Status;
use std::sync::Mutex;

#[tokio::test]
async fn redirects_to_itself() {
    let server = Server::new(|path, _| redirect(&format!("/{path}"))).await;
    let judged = judged_responsive(&server).await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "HTTP 307");
    assert_failed(report, "WIRE-09", "HTTP 307");
}

#[tokio::test]
async fn redirects_elsewhere_are_not_followed() {
    let elsewhere = Server::new(|_, _| panic!("a redirect was followed")).await;
    let url = elsewhere.url.clone();
    let server = Server::new(move |path, _| redirect(&format!("{url}/{path}"))).await;
    let judged = judged_responsive(&server).await;
    assert_failed(judged.failed(), "WIRE-09", &elsewhere.url);
}

fn redirect(to: &str) -> Act {
    let head = "connection: close\r\ncontent-length: 0";
    Act::Say(
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\n{head}\r\n\r\n").into_bytes(),
    )
}

#[tokio::test]
async fn one_that_is_healthy_and_fails_at_everything() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        _ => Act::answer(500, "Internal Server Error"),
    })
    .await;
    let judged = judged_responsive(&server).await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "HTTP 500");
    assert_failed(report, "WIRE-01", "HTTP 500");
    // Checks that need a load balancer must not fail, too.
    let ens = result(report, "ENS-02");
    assert_eq!(ens.status, Status::Skipped);
    assert!(ens.reason.contains("CLB-01"), "{}", ens.reason);
}

#[tokio::test]
async fn maps_of_a_mebibyte() {
    let long = "x".repeat(1 << 20);
    let server = Server::new(move |path, _| match path {
        "healthz" => Act::healthy(),
        "generateBackendAddr" => {
            let body = format!(r#"{{"status":"Succ","backendAddr":"{long}"}}"#);
            Act::answer(200, &body)
        }
        _ => {
            let body = format!(r#"{{"status":"Succ","lbInfo":{{"id":"{long}"}},"msg":"{long}"}}"#);
            Act::answer(200, &body)
        }
    })
    .await;
    let judged = judged_responsive(&server).await;
    let report = judged.failed();
    assert_failed(report, "CLB-07", "4096 bytes");
    // No line of the report may be this long.
    for result in &report.results {
        assert!(
            result.reason.len() < 10_000,
            "{}: {}",
            result.id,
            result.reason.len()
        );
    }
}

#[tokio::test]
async fn json_at_random() {
    for seed in 0..3 {
        let random = Mutex::new(fastrand::Rng::with_seed(seed));
        let server = Server::new(move |path, _| match path {
            "healthz" => Act::healthy(),
            _ => {
                let mut random = random.lock().unwrap();
                let status = random.choice([200, 200, 200, 201, 404, 500]).unwrap();
                Act::answer(status, &json(&mut random, 4))
            }
        })
        .await;
        let judged = judged_responsive(&server).await;
        judged.failed();
    }
}

/// Random JSON that resembles a response.
fn json(random: &mut fastrand::Rng, depth: usize) -> String {
    const TEXTS: [&str; 6] = ["Succ", "Fail", "Running", "", "\\u0000", "é\\ud83d\\ude00"];
    const FIELDS: [&str; 8] = [
        "status",
        "msg",
        "succ",
        "healthy",
        "lbInfo",
        "injectedInfo",
        "backendAddr",
        "minRetryDelayInSeconds",
    ];
    let text = |random: &mut fastrand::Rng| format!("{:?}", random.choice(TEXTS).unwrap());
    match random.u8(0..if depth == 4 { 1 } else { 8 }) {
        0 if depth > 0 => {
            let fields = (0..random.usize(0..8)).map(|_| {
                let name = random.choice(FIELDS).unwrap();
                format!("{name:?}:{}", json(random, depth - 1))
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        1 if depth > 0 => {
            let items = (0..random.usize(0..4)).map(|_| json(random, depth - 1));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        2 => "null".to_owned(),
        3 => format!("{}", random.bool()),
        4 => format!("{}", random.i64(..)),
        5 => "1e400".to_owned(),
        _ => text(random),
    }
}
