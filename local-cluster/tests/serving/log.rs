//! What the log contains of requests, and what not.

use std::io::Write;
use std::sync::{Arc, Mutex};

use local_cluster::{ServeOptions, Token};
use tokio::io::AsyncWriteExt as _;

use super::served;
use crate::fixture::eventually;
use crate::wire::{connect, exchange, get, read_response};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn requests_are_logged_at_their_end_without_secrets() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // With one subscriber in the process, tracing asks the thread that first meets a log line whether it is
    // wanted, and remembers that thread's answer. With two it asks both.
    let _other = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let _guard = tracing::subscriber::set_default(subscriber);
    let options = ServeOptions {
        token: Some(Token::new("s3cret").unwrap()),
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let headers = "User-Agent: tester/1\r\nAuthorization: Bearer s3cret\r\n";
    exchange(
        server.addr(),
        get("/api/v1/nodes?labelSelector=hidden", headers),
    )
    .await;
    exchange(
        server.addr(),
        get("/api/v1/nodes", "Authorization: Bearer gu3ss\r\n"),
    )
    .await;
    let mut watch = connect(server.addr()).await;
    let watching = get("/api/v1/pods?watch=true", headers);
    watch.write_all(watching.as_bytes()).await.unwrap();
    read_response(&mut watch).await;
    let begun = lines.text();
    drop(watch);
    let ended = || async { lines.text().contains("watch ended").then_some(()) };
    eventually("a log line for the end of the watch", ended).await;

    let own: String = lines
        .text()
        .lines()
        .filter(|line| line.contains("local_cluster"))
        .collect::<Vec<_>>()
        .join("\n");
    for wanted in [
        "request method=GET path=\"/api/v1/nodes\" user_agent=\"\" status=401 ms=",
        "request method=GET path=\"/api/v1/nodes\" user_agent=\"tester/1\" status=200 ms=",
        "watch begins method=GET path=\"/api/v1/pods\" user_agent=\"tester/1\" status=200 ms=",
        "watch ended method=GET path=\"/api/v1/pods\" user_agent=\"tester/1\" status=200 ms=",
    ] {
        assert!(own.contains(wanted), "{own}");
    }
    assert!(!begun.contains("watch ended"), "{begun}");
    for secret in ["s3cret", "gu3ss", "hidden"] {
        assert!(!own.contains(secret), "{own}");
    }
}
