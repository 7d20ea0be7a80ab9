//! A server made by hand, that does what it should not.

use crate::transport::{Settings, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server on a port of the system's choice. It ends when this is dropped.
pub(super) struct Server {
    pub(super) url: String,
    connections: Arc<AtomicUsize>,
    running: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Server {
    /// Does this with each connection.
    pub(super) async fn new<F>(behave: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let running = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(behave(stream));
            }
        });
        Self {
            url,
            connections,
            running,
        }
    }

    /// Reads one request, sends these bytes, and closes the connection.
    pub(super) async fn answering(answer: impl AsRef<[u8]>) -> Self {
        let answer = Arc::new(answer.as_ref().to_vec());
        Self::new(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                read_request(&mut stream).await;
                stream.write_all(&answer).await.ok();
            }
        })
        .await
    }

    /// Reads one request, sends the beginning, and then repeats `again` until the client
    /// disconnects.
    pub(super) async fn never_ending(begin: &'static str, again: &str) -> Self {
        let again = Arc::new(again.repeat(100).into_bytes());
        Self::new(move |mut stream| {
            let again = Arc::clone(&again);
            async move {
                read_request(&mut stream).await;
                let mut result = stream.write_all(begin.as_bytes()).await;
                while result.is_ok() {
                    result = stream.write_all(&again).await;
                }
            }
        })
        .await
    }

    pub(super) fn transport(&self) -> Transport {
        Transport::to_url(&self.url, &Settings::default()).unwrap()
    }

    /// How many connections there have been.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// The head and the body of one request, as far as it comes.
pub(super) async fn read_request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut received = Vec::new();
    loop {
        if let Some(end) = end_of_head(&received) {
            let head = String::from_utf8(received[..end].to_vec()).unwrap();
            if received.len() >= end + length_of_body(&head) {
                return (head, received.split_off(end));
            }
        }
        match stream.read_buf(&mut received).await {
            Ok(0) | Err(_) => {
                let end = end_of_head(&received).unwrap_or(received.len());
                let body = received.split_off(end);
                return (String::from_utf8(received).unwrap(), body);
            }
            Ok(_) => {}
        }
    }
}

fn end_of_head(received: &[u8]) -> Option<usize> {
    let at = received.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(at + 4)
}

fn length_of_body(head: &str) -> usize {
    head.lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap())
}
