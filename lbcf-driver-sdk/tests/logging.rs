//! What is for the log and not for the user.

use crate::support::{ensure, ok, post, stage};
use serde_json::json;
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn log() -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::INFO)
        .with_writer(move || writer.clone())
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}

#[tokio::test]
async fn b140_what_is_behind_a_failure_is_logged_with_the_call() {
    let (log, _guard) = log();
    let (router, _) = stage();
    let answer = ok(
        &router,
        "/ensureBackend",
        &ensure("try-7", json!({"do": "fail"})),
    )
    .await;
    assert!(!answer.to_string().contains("quota exceeded"));
    let text = log.text();
    for part in [
        "WARN",
        "the cloud says no",
        "quota exceeded",
        "webhook=\"ensureBackend\"",
        "recordID=\"ensureBackend(1)\"",
        "retryID=\"try-7\"",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[tokio::test]
async fn a_panic_is_logged_with_the_call() {
    let (log, _guard) = log();
    let (router, _) = stage();
    let body = ensure("try-8", json!({"do": "panic"}));
    post(&router, "/ensureBackend", body.to_string()).await;
    let text = log.text();
    for part in ["ERROR", "on purpose", "retryID=\"try-8\""] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
