//! A server whose behaviour per request is set by the test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The reaction to a request. The connection is closed afterwards.
pub(super) enum Act {
    Say(Vec<u8>),
    /// Sends the first bytes, then repeats the others with pauses until the client disconnects.
    SayForEver(Vec<u8>, Vec<u8>, Duration),
    /// Sends nothing, and keeps the connection open.
    Hang,
    /// Stops the server and closes all connections.
    Die,
}

impl Act {
    /// A complete response with this status and body.
    pub(super) fn answer(status: u16, body: &str) -> Self {
        let length = body.len();
        Self::Say(
            format!(
                "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .into_bytes(),
        )
    }

    pub(super) fn healthy() -> Self {
        Self::answer(200, r#"{"healthy":true}"#)
    }
}

/// A server on a free port. It stops when dropped.
pub(super) struct Server {
    pub(super) url: String,
    running: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Server {
    /// Reacts to each request by its path and its number, from 0.
    pub(super) async fn new(behave: impl Fn(&str, usize) -> Act + Send + Sync + 'static) -> Self {
        Self::reading(move |path, _, nth| behave(path, nth)).await
    }

    /// Like the above, also by its body.
    pub(super) async fn reading(
        behave: impl Fn(&str, &[u8], usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let behave = Arc::new(behave);
        let count = Arc::new(AtomicUsize::new(0));
        let death = Arc::new(Notify::new());
        let running = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let stream = tokio::select! {
                    accepted = listener.accept() => accepted.unwrap().0,
                    () = death.notified() => break,
                    Some(_) = connections.join_next() => continue,
                };
                let (behave, count, death) = (behave.clone(), count.clone(), death.clone());
                connections.spawn(async move {
                    serve(stream, &*behave, &count, &death).await;
                });
            }
        });
        Self { url, running }
    }
}

async fn serve(
    mut stream: TcpStream,
    behave: &(impl Fn(&str, &[u8], usize) -> Act + Sync),
    count: &AtomicUsize,
    death: &Notify,
) {
    let Some((path, body)) = read_request(&mut stream).await else {
        return;
    };
    let act = behave(&path, &body, count.fetch_add(1, Ordering::SeqCst));
    match act {
        Act::Say(bytes) => {
            stream.write_all(&bytes).await.ok();
            // Closing with unread bytes could lose the response.
            stream.shutdown().await.ok();
            let mut rest = [0; 4096];
            while matches!(stream.read(&mut rest).await, Ok(1..)) {}
        }
        Act::SayForEver(begin, again, pause) => {
            let mut result = stream.write_all(&begin).await;
            while result.is_ok() {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                result = stream.write_all(&again).await;
            }
        }
        Act::Hang => {
            let mut rest = [0; 4096];
            while matches!(stream.read(&mut rest).await, Ok(1..)) {}
        }
        Act::Die => death.notify_one(),
    }
}

/// Reads a request; returns its path without the slash and its body, or `None` if it is incomplete.
async fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut received = Vec::new();
    loop {
        if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).into_owned();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if received.len() >= end + 4 + length.unwrap_or(0) {
                let path = head.split(' ').nth(1)?.strip_prefix('/')?;
                return Some((path.to_owned(), received.split_off(end + 4)));
            }
        }
        if !matches!(stream.read_buf(&mut received).await, Ok(1..)) {
            return None;
        }
    }
}
