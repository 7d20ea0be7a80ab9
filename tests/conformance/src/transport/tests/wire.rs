//! What the driver sees of a request.

use super::server::{Server, read_request};
use super::{LONG, soon};
use crate::transport::{LEFT_OUT, Request, Settings, Transport};
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderValue, TRANSFER_ENCODING};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

/// A server that responds with 200, and the requests that it received.
async fn listening() -> (Server, mpsc::UnboundedReceiver<(String, Vec<u8>)>) {
    let (received, requests) = mpsc::unbounded_channel();
    let server = Server::new(move |mut stream| {
        let received = received.clone();
        async move {
            received.send(read_request(&mut stream).await).ok();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).await.ok();
        }
    })
    .await;
    (server, requests)
}

fn lines(head: &str) -> (&str, Vec<&str>) {
    let mut lines = head.trim_end().lines();
    let first = lines.next().unwrap();
    let mut headers: Vec<_> = lines.collect();
    headers.sort_unstable();
    (first, headers)
}

#[tokio::test]
async fn transport_sends_the_headers_of_a_webhook_call() {
    let (server, mut requests) = listening().await;
    let host = server.url.trim_start_matches("http://");
    let settings = Settings {
        headers: [("x-key".parse().unwrap(), HeaderValue::from_static("k3y"))]
            .into_iter()
            .collect(),
        ..Settings::default()
    };
    let url = format!("http://me:secret@{host}/lbcf/?zone=1");
    let transport = Transport::to_url(&url, &settings).unwrap();
    let request = Request::post("ensureBackend", "{}").with(COOKIE, HeaderValue::from_static("c"));

    transport.send(&request, LONG).await.unwrap();
    let (by_hyper, body) = soon(requests.recv()).await.unwrap();
    assert_eq!(body, b"{}");
    let (line, headers) = lines(&by_hyper);
    assert_eq!(line, "POST /lbcf/ensureBackend?zone=1 HTTP/1.1");
    let host_line = format!("host: {host}");
    let mut expected = vec![
        "accept: application/json",
        "authorization: Basic bWU6c2VjcmV0",
        "content-length: 2",
        "content-type: application/json",
        "cookie: c",
        &host_line,
        concat!("user-agent: lbcf-conformance/", env!("CARGO_PKG_VERSION")),
        "x-key: k3y",
    ];
    assert_eq!(headers, expected);

    // By hand it is the same.
    transport
        .send_and_hang_up(&request, usize::MAX, std::time::Duration::ZERO)
        .await
        .unwrap();
    let (by_hand, _) = soon(requests.recv()).await.unwrap();
    assert_eq!(lines(&by_hand), (line, headers));

    // Shown are the same, without the secrets.
    let shown = transport.shown_headers(&request);
    let mut shown: Vec<_> = shown
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    shown.sort_unstable();
    expected[1] = "authorization: ***";
    expected[4] = "cookie: ***";
    expected[7] = "x-key: ***";
    assert_eq!(shown, expected);
    for secret in ["secret", "k3y", "bWU6c2VjcmV0"] {
        assert!(!format!("{transport:?} {settings:?}").contains(secret));
    }
}

#[tokio::test]
async fn transport_replaces_and_leaves_out_headers() {
    let (server, mut requests) = listening().await;
    let settings = Settings {
        token: Some("t0ken".into()),
        ..Settings::default()
    };
    let transport = Transport::to_url(&server.url, &settings).unwrap();
    let charset = HeaderValue::from_static("application/json; charset=utf-8");
    for (request, with, without) in [
        (
            Request::post("x", "{}").with(CONTENT_TYPE, charset),
            "content-type: application/json; charset=utf-8",
            "content-type: application/json\r\n",
        ),
        (
            Request::post("x", "{}").with(CONTENT_TYPE, LEFT_OUT),
            "authorization: Bearer t0ken\r\n",
            "content-type",
        ),
        (
            Request::post("x", "{}").with(AUTHORIZATION, LEFT_OUT),
            "accept: application/json\r\n",
            "authorization",
        ),
        (
            Request::post("x", "{}").with(ACCEPT, LEFT_OUT),
            "POST /x ",
            "accept",
        ),
        (
            Request::post("x", ""),
            "content-length: 0\r\n",
            "content-type",
        ),
        (
            Request::new(Method::GET, "x"),
            "GET /x HTTP/1.1\r\n",
            "content-length",
        ),
        (
            Request::post("x", "{}").with(TRANSFER_ENCODING, HeaderValue::from_static("chunked")),
            "transfer-encoding: chunked\r\n",
            "content-length",
        ),
    ] {
        transport.send(&request, LONG).await.unwrap();
        let (head, _) = soon(requests.recv()).await.unwrap();
        assert!(head.contains(with), "{with:?} in {head}");
        assert!(!head.contains(without), "{without:?} in {head}");
        let by_hand = String::from_utf8(transport.bytes_of(&request, 0)).unwrap();
        let (by_hand, _) = by_hand.split_once("\r\n\r\n").unwrap();
        assert_eq!(lines(by_hand), lines(&head));
    }
}

#[test]
fn transport_refuses_a_token_that_no_header_can_carry_without_showing_it() {
    let settings = Settings {
        token: Some("t0ken\n".into()),
        ..Settings::default()
    };
    let problem = Transport::to_url("http://h", &settings).unwrap_err();
    assert!(problem.to_string().contains("visible ASCII"), "{problem}");
    assert!(!format!("{problem} {problem:?} {settings:?}").contains("t0ken"));
}
