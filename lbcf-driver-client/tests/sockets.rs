//! Servers that speak HTTP by hand, and remember what they were sent.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// A body that is a valid response of every webhook.
pub(super) const GOOD: &str =
    r#"{"healthy":true,"succ":true,"status":"Succ","msg":"","backendAddr":"a"}"#;

/// A request as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// The number of its connection.
    pub(super) connection: usize,
    /// Its first line and headers.
    pub(super) head: String,
    pub(super) client: Option<Vec<u8>>,
}

impl Seen {
    pub(super) fn token(&self) -> Option<&str> {
        let (_, rest) = self.head.split_once("authorization: ")?;
        rest.split("\r\n").next()
    }
}

/// What a server was sent so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    pub(super) fn all(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn last(&self) -> Seen {
        self.all().pop().unwrap()
    }

    pub(super) fn note(&self, seen: Seen) {
        self.0.lock().unwrap().push(seen);
    }
}

/// Yields until a task has returned the connection to its pool.
pub(super) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

pub(super) fn response(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// Reads a whole request; gives its head, or nothing where the connection ends.
pub(super) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.split("content-length: ").nth(1)?;
    let length = length.split("\r\n").next()?.parse().ok()?;
    stream.read_exact(&mut vec![0; length]).await.ok()?;
    Some(head)
}

/// Responds to requests of one connection until it closes.
pub(super) async fn answer_all(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    (connection, client): (usize, Option<Vec<u8>>),
    answer: String,
    log: Log,
) {
    while let Some(head) = read_request(&mut stream).await {
        let client = client.clone();
        log.note(Seen {
            connection,
            head,
            client,
        });
        if stream.write_all(answer.as_bytes()).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

/// A server that gives each request the same response; its port, and the requests.
pub(super) async fn serve_plain(answer: String) -> (u16, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let log = Log::default();
    let seen = log.clone();
    tokio::spawn(async move {
        for connection in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            let peer = (connection, None);
            tokio::spawn(answer_all(stream, peer, answer.clone(), seen.clone()));
        }
    });
    (port, log)
}
