//! The client against misbehaving servers.
// Helpers of tests unwrap too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod addresses;
mod files;
mod limits;
mod paths;
mod pki;
mod proxy;
mod reload;
mod sockets;
mod tls;
mod token;

use lbcf_driver_client::{CallError, DriverClient, HttpClient};
use lbcf_driver_sdk::webhook::{EnsureBackend, EnsureBackendResponse, Healthz};
use sockets::{GOOD, Seen, read_request, response, serve_plain, settle};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const LONG: Duration = Duration::from_secs(30);

async fn call(url: &str) -> Result<EnsureBackendResponse, CallError> {
    let client = DriverClient::new(url).unwrap();
    client.call(&EnsureBackend::default()).await
}

/// A server that responds with these bytes to one request per connection, and closes it.
async fn answers(response: impl Into<Vec<u8>>) -> (String, Arc<AtomicUsize>) {
    let response = response.into();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            if read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(&response).await;
            }
        }
    });
    (url, connections)
}

#[tokio::test]
async fn b149_only_200_is_an_answer() {
    let succ = r#"{"status":"Succ"}"#;
    for status in ["201 Created", "202 Accepted", "404 Not Found", "500 Oh"] {
        let (url, _) = answers(response(status, succ)).await;
        match call(&url).await.unwrap_err() {
            CallError::Status {
                status: got, body, ..
            } => {
                assert_eq!(got, status[..3].parse::<u16>().unwrap());
                assert_eq!(body, "no media type, 17 bytes");
            }
            other => panic!("{other}"),
        }
    }
    let page = format!(r#"{{"error": "{}"}}"#, "x".repeat(10_000));
    let (url, _) = answers(response("503 Away", &page)).await;
    match call(&url).await.unwrap_err() {
        CallError::Status { body, .. } => assert_eq!(body.len(), 1024),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn u50_redirects_are_not_followed() {
    let (target, seen) = answers(response("200 OK", r#"{"status":"Succ"}"#)).await;
    let redirect = format!("HTTP/1.1 307 Go\r\nlocation: {target}/\r\ncontent-length: 0\r\n\r\n");
    let (url, _) = answers(redirect).await;
    assert!(matches!(
        call(&url).await,
        Err(CallError::Status { status: 307, .. })
    ));
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn b150_an_invalid_response_is_malformed() {
    for body in [
        "",
        "Succ",
        "null",
        "[]",
        "{}",
        r#"{"status":"succ"}"#,
        r#"{"status":"Succ","msg":1}"#,
        r#"{"status":"Succ","minRetryDelayInSeconds":1.5}"#,
        r#"{"status":"Succ","injectedInfo":{"a":1}}"#,
        r#"{"status":"private, expected x"}"#,
        r#"{"status":"Succ","msg":["private"]}"#,
        r#"{"status":"Succ","minRetryDelayInSeconds":"private"}"#,
    ] {
        let (url, _) = answers(response("200 OK", body)).await;
        let error = call(&url).await.unwrap_err();
        assert!(matches!(error, CallError::Malformed(_)), "{body}: {error}");
        // d106: it may be another server's answer.
        assert!(!error.to_string().contains("private"), "{error}");
        assert!(std::error::Error::source(&error).is_none());
    }
    let (url, _) = answers(response(
        "200 OK",
        r#"{"Status":"Succ","minRetryDelayinSeconds":"5","injectedInfo":null,"new":1}"#,
    ))
    .await;
    assert_eq!(call(&url).await.unwrap().min_retry_delay_in_seconds, 5);
}

#[tokio::test]
async fn an_endless_response_is_too_large() {
    let body = "x".repeat((4 << 20) + 1);
    let (url, _) = answers(response("200 OK", &body)).await;
    let error = call(&url).await.unwrap_err();
    assert!(matches!(error, CallError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn the_timeout_covers_the_whole_call() {
    let short = Duration::from_millis(50);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    let client = DriverClient::new(&silent).unwrap();
    let result = client.call_within(&EnsureBackend::default(), short).await;
    match result {
        Err(error @ CallError::Timeout { after }) => {
            assert_eq!(after, short);
            assert!(error.is_timeout() && !error.is_connect());
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_response_that_ends_early_leaves_the_effect_unknown() {
    let (url, _) = answers("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{").await;
    let error = call(&url).await.unwrap_err();
    assert!(matches!(error, CallError::Unreachable(_)), "{error}");
    assert!(!error.is_connect(), "the driver may have acted");
}

#[tokio::test]
async fn a_refused_connection_is_unreachable_with_the_reason() {
    // Bound, so that nothing else takes the port, and not listening.
    let refusing = tokio::net::TcpSocket::new_v4().unwrap();
    refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address: SocketAddr = refusing.local_addr().unwrap();
    let error = call(&format!("http://{address}")).await.unwrap_err();
    assert!(matches!(error, CallError::Unreachable(_)));
    assert!(error.is_connect() && !error.is_timeout());
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn connections_are_kept_and_shared() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let http = HttpClient::new();
    for _ in 0..5 {
        let url = format!("http://127.0.0.1:{port}");
        let client = DriverClient::with_http(http.clone(), &url).unwrap();
        assert!(client.call(&Healthz {}).await.unwrap().healthy);
        settle().await;
    }
    let connections = log.all().into_iter().map(|seen| seen.connection);
    assert_eq!(connections.collect::<Vec<_>>(), [1; 5]);
}

#[tokio::test]
async fn each_call_says_the_specification_and_begins_a_trace() {
    let (port, log) = serve_plain(response("200 OK", GOOD)).await;
    let client = DriverClient::new(&format!("http://127.0.0.1:{port}")).unwrap();
    client.call(&Healthz {}).await.unwrap();
    client.raw_call("listBackends", "{}").await.unwrap();
    let traces = log.all().into_iter().map(|Seen { head, .. }| {
        assert!(head.contains("\r\nlbcf-specification: 1\r\n"), "{head}");
        let (_, rest) = head.split_once("\r\ntraceparent: ").unwrap();
        let fields: Vec<_> = rest.lines().next().unwrap().split('-').collect();
        let [version, trace, span, flags] = fields.try_into().unwrap();
        assert_eq!((version, flags), ("00", "01"));
        for (id, digits) in [(trace, 32), (span, 16)] {
            assert_eq!(id.len(), digits, "{id}");
            assert!(u128::from_str_radix(id, 16).unwrap() > 0, "{id}");
        }
        trace.to_owned()
    });
    let traces: Vec<_> = traces.collect();
    assert_eq!(traces.len(), 2);
    assert_ne!(traces[0], traces[1]);
}

/// Waits until the client's system has the end of a stream, which a busy one delivers later than it is sent.
fn until_end_is_received(stream: &std::net::TcpStream) {
    let port = |addr: SocketAddr| format!(":{:04X} ", addr.port());
    let (Ok(local), Ok(remote)) = (stream.local_addr(), stream.peer_addr()) else {
        // The client has closed it, too, and so has received the end.
        return;
    };
    let ports = [local, remote].map(port);
    let waits_for_it = |line: &str| {
        let (local, remote) = (line.find(&ports[0]), line.find(&ports[1]));
        local.is_some() && local < remote && line.contains(" 04 ")
    };
    // Elsewhere than on Linux there is no such file.
    while let Ok(sockets) = std::fs::read_to_string("/proc/net/tcp")
        && sockets.lines().any(waits_for_it)
    {
        std::thread::yield_now();
    }
}

/// The connection is closed while the runtime has no time to notice, as on a busy machine.
#[tokio::test]
async fn a_connection_that_the_driver_closed_is_not_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (closed, is_closed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n{}") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            // It does not announce that the connection will be closed.
            let healthy = response("200 OK", r#"{"healthy":true}"#);
            stream.write_all(healthy.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            until_end_is_received(&stream);
            drop(stream);
            closed.send(()).unwrap();
        }
    });
    let client = DriverClient::new(&url).unwrap();
    for _ in 0..20 {
        let answer = client.call::<Healthz>(&Healthz {}).await;
        assert!(answer.unwrap().healthy);
        is_closed.recv().unwrap();
    }
}

#[tokio::test]
async fn user_and_password_of_the_url_are_sent_as_a_header() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://me:p%40ss@{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        String::from_utf8(head).unwrap()
    });
    let client = DriverClient::new(&url).unwrap();
    assert!(!format!("{client:?}{}", client.url_of::<Healthz>()).contains("me:"));
    let _ = client.call::<Healthz>(&Healthz {}).await;
    let head = server.await.unwrap();
    // "me:p@ss"
    assert!(
        head.contains("authorization: Basic bWU6cEBzcw==\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn a_dropped_call_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = DriverClient::new(&url).unwrap();
    let call = tokio::spawn(async move { client.call::<Healthz>(&Healthz {}).await });
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.read_u8().await.unwrap();
    call.abort();
    let mut rest = Vec::new();
    // Ends when the other side is closed.
    tokio::time::timeout(LONG, stream.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[test]
fn a_url_can_be_checked_and_shown_without_its_password() {
    let shown = DriverClient::check_url("http://user:secret@driver:8080/a/../b/").unwrap();
    assert_eq!(shown, "http://driver:8080/b");
    let error = DriverClient::check_url("driver").unwrap_err().to_string();
    assert!(
        error.contains("\"driver\"") && error.contains("http://HOST"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_that_is_no_longer_permitted_is_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let received = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        received
    });
    let driver = DriverClient::new(&url).unwrap().send_while(|| false);
    let error = driver.call(&Healthz {}).await.unwrap_err();
    let cause = "the caller no longer permits the call";
    assert!(error.to_string().contains(cause), "{error}");
    assert!(received.await.unwrap().is_empty());
}
