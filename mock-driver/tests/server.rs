//! The mock over TCP, and what its absence looks like.

use mock_driver::{Cloud, MockError, MockOptions, MockServer};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(10);

async fn start(cloud: &Cloud, addr: SocketAddr) -> MockServer {
    MockServer::start(cloud.clone(), addr, MockOptions::default())
        .await
        .unwrap()
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

const HEALTHZ: &[u8] = b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";

/// Asks for health on an open connection, which stays open.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(HEALTHZ).await.unwrap();
    let mut reply = String::new();
    while !reply.ends_with('}') {
        let mut buffer = [0; 1024];
        let length = timeout(LIMIT, stream.read(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        assert_ne!(length, 0, "{reply}");
        reply.push_str(std::str::from_utf8(&buffer[..length]).unwrap());
    }
    reply
}

/// Waits until the server closes the connection.
async fn hung_up(stream: &mut TcpStream) {
    let mut rest = [0; 1];
    match timeout(LIMIT, stream.read(&mut rest)).await.unwrap() {
        Ok(length) => assert_eq!(length, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

#[tokio::test]
async fn it_stops_and_starts_again_on_the_same_address() {
    let cloud = Cloud::with_samples();
    let mut addr = any_port();
    for round in 1..=3 {
        let server = start(&cloud, addr).await;
        addr = server.addr();
        assert_eq!(server.url(), format!("http://{addr}"));
        let mut stream = TcpStream::connect(addr).await.unwrap();
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
        assert!(
            ask(&mut stream).await.starts_with("HTTP/1.1 200"),
            "kept alive"
        );
        assert_eq!(server.calls().get("healthz"), 2 * round);
        server.stop().await;
        hung_up(&mut stream).await;
        let refused = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }
}

#[tokio::test]
async fn dropping_stops_it() {
    let server = start(&Cloud::empty(), any_port()).await;
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    ask(&mut stream).await;
    drop(server);
    hung_up(&mut stream).await;
}

#[tokio::test]
async fn the_error_names_an_address_in_use() {
    let server = start(&Cloud::empty(), any_port()).await;
    let second = MockServer::start(Cloud::empty(), server.addr(), MockOptions::default()).await;
    let error = second.unwrap_err();
    assert!(matches!(error, MockError::Listen { .. }));
    assert!(
        error.to_string().contains(&server.addr().to_string()),
        "{error}"
    );
    server.stop().await;
}
