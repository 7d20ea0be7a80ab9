//! A client that sends raw bytes.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::fixture::DEADLINE;

/// How long a server may take to close a connection; its own limits are shorter.
const ENDING: Duration = DEADLINE;

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// Sends bytes on a new connection and returns everything received until the server closes it.
pub(crate) async fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> String {
    let mut stream = connect(address).await;
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(bytes.as_ref()).await;
    to_end(&mut stream).await
}

/// Everything received until the other side closes the connection.
pub(crate) async fn to_end(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut all = Vec::new();
    let reading = stream.read_to_end(&mut all);
    // A reset closes the connection, too.
    let _ = tokio::time::timeout(ENDING, reading)
        .await
        .expect("the server ends the connection");
    String::from_utf8_lossy(&all).into_owned()
}

/// The head and the body of a response with a known length.
pub(crate) async fn read_response(stream: &mut (impl AsyncRead + Unpin)) -> (String, String) {
    let reading = async {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            head.push(char::from(stream.read_u8().await.expect("an answer")));
        }
        let length = head
            .lines()
            .find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            })
            .unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.expect("the whole body");
        (head, String::from_utf8(body).unwrap())
    };
    tokio::time::timeout(DEADLINE, reading)
        .await
        .expect("a response in time")
}

/// The code and the `Status` of a response with `connection: close`.
pub(crate) async fn status(address: SocketAddr, request: impl AsRef<[u8]>) -> (u16, Value) {
    let text = exchange(address, request).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = serde_json::from_str(body).unwrap_or_else(|_| Value::from(body));
    (code.unwrap_or(0), body)
}

/// A GET with `connection: close`.
pub(crate) fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

/// A POST with `connection: close`.
pub(crate) fn post(path: &str, media_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}
