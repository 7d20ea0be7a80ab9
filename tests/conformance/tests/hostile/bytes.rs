//! Drivers whose bytes are no HTTP responses.

use super::judged::{assert_failed, judged, judged_responsive};
use super::server::{Act, Server};
use std::time::Duration;

/// Misbehaves on every path, so that no check starts.
async fn unreachable(act: fn() -> Act, reason: &str) {
    let server = Server::new(move |_, _| act()).await;
    judged(&server).await.is_unreachable(reason);
}

/// Misbehaves on every path but healthz, at once or slowly.
async fn failing(act: fn() -> Act, is_slow: bool, reason: &str) {
    let server = Server::new(move |path, _| match path {
        "healthz" => Act::healthy(),
        _ => act(),
    })
    .await;
    let judged = match is_slow {
        true => judged(&server).await,
        false => judged_responsive(&server).await,
    };
    assert_failed(judged.failed(), "CLB-01", reason);
}

async fn harmless(act: fn() -> Act, reason: &str) {
    unreachable(act, reason).await;
    failing(act, false, reason).await;
}

/// The same for responses that never end, with short timeouts.
async fn harmless_if_endless(act: fn() -> Act, reason: &str) {
    unreachable(act, reason).await;
    failing(act, true, reason).await;
}

#[tokio::test]
async fn connections_that_are_closed_at_once() {
    harmless(
        || Act::Say(Vec::new()),
        "the connection closed before the response",
    )
    .await;
}

#[tokio::test]
async fn connections_that_are_closed_after_the_head() {
    let head = || Act::Say(b"HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n".to_vec());
    harmless(head, "the connection closed before the response").await;
}

#[tokio::test]
async fn connections_that_are_closed_in_the_head() {
    let head = || Act::Say(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec());
    harmless(head, "the connection closed before the response").await;
}

#[tokio::test]
async fn an_endless_body() {
    let body = || {
        let head = b"HTTP/1.1 200 OK\r\n\r\n[".to_vec();
        Act::SayForEver(head, b"1,".repeat(50_000), Duration::ZERO)
    };
    harmless(body, "longer than 4194304 bytes").await;
}

#[tokio::test]
async fn an_endless_head() {
    let head = || {
        let begin = b"HTTP/1.1 200 OK\r\n".to_vec();
        Act::SayForEver(begin, b"x-more: more\r\n".repeat(1000), Duration::ZERO)
    };
    harmless(head, "its head has more than").await;
}

#[tokio::test]
async fn one_byte_a_second() {
    let drip = || Act::SayForEver(Vec::new(), b"H".to_vec(), Duration::from_secs(1));
    harmless_if_endless(drip, "no complete response within").await;
}

#[tokio::test]
async fn a_body_of_one_byte_a_second() {
    let drip = || {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".to_vec();
        Act::SayForEver(head, b" ".to_vec(), Duration::from_secs(1))
    };
    harmless_if_endless(drip, "no complete response within").await;
}

#[tokio::test]
async fn garbage() {
    harmless(
        || Act::Say([0x16, 0x03, 0x01, 0xff, 0x00, b'\r', b'\n'].repeat(99)),
        "not HTTP",
    )
    .await;
}

#[tokio::test]
async fn interim_answers_without_an_end() {
    let flood = || {
        let interim = b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n".repeat(1000);
        Act::SayForEver(Vec::new(), interim, Duration::ZERO)
    };
    harmless_if_endless(flood, "no").await;
}
