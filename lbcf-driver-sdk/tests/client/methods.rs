//! A method for each webhook, and calls of anything.

use super::sockets::{GOOD, response, serve_plain};
use lbcf_driver_sdk::client::{CallError, DriverClient};
use lbcf_driver_sdk::webhook::ALL;
use std::time::Duration;

#[tokio::test]
async fn each_webhook_is_a_method_that_calls_it() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let driver = DriverClient::new(&format!("http://127.0.0.1:{port}/lbcf")).unwrap();
    let d = &driver;
    assert!(d.healthz(&Default::default()).await.unwrap().healthy);
    d.validate_load_balancer(&Default::default()).await.unwrap();
    d.create_load_balancer(&Default::default()).await.unwrap();
    d.ensure_load_balancer(&Default::default()).await.unwrap();
    d.delete_load_balancer(&Default::default()).await.unwrap();
    d.validate_backend(&Default::default()).await.unwrap();
    d.generate_backend_addr(&Default::default()).await.unwrap();
    d.ensure_backend(&Default::default()).await.unwrap();
    d.deregister_backend(&Default::default()).await.unwrap();
    d.judge_pod_deregister(&Default::default()).await.unwrap();
    d.list_backends(&Default::default()).await.unwrap();
    let lines = log.all().into_iter().map(|seen| {
        let line = seen.head.split("\r\n").next().unwrap_or_default();
        line.to_owned()
    });
    let expected = ALL
        .iter()
        .map(|webhook| format!("post /lbcf/{} http/1.1", webhook.name.to_lowercase()));
    assert_eq!(lines.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
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
