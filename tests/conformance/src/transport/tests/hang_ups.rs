//! Hanging up, at any point.

use super::server::{Server, read_request};
use super::soon;
use crate::exchange::NoResponse;
use crate::transport::{Request, Settings, Transport};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

/// A server that never responds, and the bytes that it received on each connection.
async fn silent() -> (Server, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (tell, events) = mpsc::unbounded_channel();
    let server = Server::new(move |mut stream| {
        let tell = tell.clone();
        async move {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.unwrap();
            tell.send(all).ok();
        }
    })
    .await;
    (server, events)
}

#[tokio::test]
async fn transport_hangs_up_behind_the_last_byte() {
    let (server, mut events) = silent().await;
    let transport = server.transport();
    let request = Request::post("ensureBackend", "{ }");
    for linger in [0, 5] {
        let linger = Duration::from_millis(linger);
        transport
            .send_and_hang_up(&request, usize::MAX, linger)
            .await
            .unwrap();
        let got = soon(events.recv()).await.unwrap();
        assert_eq!(got, transport.bytes_of(&request, request.body.len()));
        assert!(got.ends_with(b"\r\n\r\n{ }"));
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn transport_hangs_up_in_the_middle_of_the_body() {
    let (server, mut events) = silent().await;
    let transport = server.transport();
    let request = Request::post("ensureBackend", "{ }");
    let whole = transport.bytes_of(&request, request.body.len());
    for (part, missing) in [(0, 3), (1, 2), (3, 0), (100, 0)] {
        transport
            .send_and_hang_up(&request, part, Duration::ZERO)
            .await
            .unwrap();
        let got = soon(events.recv()).await.unwrap();
        assert_eq!(got, whole[..whole.len() - missing], "{part}");
    }
}

#[tokio::test]
async fn transport_lingers_before_it_hangs_up() {
    let (tell, mut events) = mpsc::unbounded_channel();
    let server = Server::new(move |mut stream| {
        let tell = tell.clone();
        async move {
            read_request(&mut stream).await;
            tell.send("request").ok();
            read_request(&mut stream).await;
            tell.send("end").ok();
        }
    })
    .await;
    let transport = server.transport();
    let hanging_up = tokio::spawn(async move {
        let request = Request::post("x", "{}");
        let long = Duration::from_secs(3600);
        transport.send_and_hang_up(&request, usize::MAX, long).await
    });
    assert_eq!(soon(events.recv()).await, Some("request"));
    assert!(events.try_recv().is_err());
    // Dropping the future of a request closes its connection, too.
    hanging_up.abort();
    assert_eq!(soon(events.recv()).await, Some("end"));
}

#[tokio::test]
async fn transport_reports_a_failed_connection_instead_of_hanging_up() {
    // Bound, so that nothing else takes the port, and not listening.
    let refusing = tokio::net::TcpSocket::new_v4().unwrap();
    refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", refusing.local_addr().unwrap());
    let transport = Transport::to_url(&url, &Settings::default()).unwrap();
    let problem = transport
        .send_and_hang_up(&Request::post("x", "{}"), usize::MAX, Duration::ZERO)
        .await
        .unwrap_err();
    assert!(matches!(problem, NoResponse::NotConnected(_)), "{problem}");
}
