//! The paths of calls, and calls of anything.

use super::sockets::{GOOD, response, serve_plain};
use lbcf_driver_client::{CallError, DriverClient};
use lbcf_driver_sdk::webhook::{EnsureBackend, Healthz, JudgePodDeregister};
use std::time::Duration;

#[tokio::test]
async fn each_request_is_sent_to_its_webhook() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let driver = DriverClient::new(&format!("http://127.0.0.1:{port}/lbcf")).unwrap();
    assert!(driver.call(&Healthz {}).await.unwrap().healthy);
    driver.call(&<EnsureBackend>::default()).await.unwrap();
    driver.call(&<JudgePodDeregister>::default()).await.unwrap();
    let lines: Vec<_> = log
        .all()
        .into_iter()
        .filter_map(|seen| seen.head.lines().next().map(str::to_owned))
        .collect();
    let expected = ["healthz", "ensurebackend", "judgepodderegister"];
    assert_eq!(
        lines,
        expected.map(|name| format!("post /lbcf/{name} http/1.1"))
    );
}

#[tokio::test]
async fn a_raw_call_gives_whatever_came_back() {
    let answer = "HTTP/1.1 418 Teapot\r\nx-kind: pot\r\ncontent-length: 3\r\n\r\n\u{1}\u{2}\u{3}";
    let (port, log) = serve_plain(answer.to_owned()).await;
    let driver = DriverClient::new(&format!("http://127.0.0.1:{port}")).unwrap();
    let answer = driver.raw_call("no-webhook", "no JSON").await.unwrap();
    assert_eq!(answer.status, 418);
    assert_eq!(answer.headers["x-kind"], "pot");
    assert_eq!(answer.body.as_ref(), [1, 2, 3]);
    assert!(answer.head_after <= answer.body_after);
    assert!(answer.body_after < Duration::from_secs(10));
    let head = log.last().head;
    assert!(head.starts_with("post /no-webhook "), "{head}");
    assert!(head.contains("content-length: 7"), "{head}");
}

#[tokio::test]
async fn a_raw_call_leaves_the_drivers_path_alone() {
    let driver = DriverClient::new("http://127.0.0.1:1/lbcf").unwrap();
    for name in [
        "", ".", "..", "a/b", "a?b", "a b", "a#b", "%2e", "\u{fc}", "a\r\nb",
    ] {
        let error = driver.raw_call(name, "{}").await.unwrap_err();
        assert!(matches!(error, CallError::NotSent(_)), "{error}");
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
    }
}
