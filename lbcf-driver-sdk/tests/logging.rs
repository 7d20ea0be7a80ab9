//! What is logged and not sent to the user.

use crate::support::{ensure, ok, post, send, stage};
use axum::http::{Request, StatusCode};
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

pub(crate) fn log() -> (Log, impl Sized) {
    log_from(tracing::Level::INFO)
}

fn log_from(level: tracing::Level) -> (Log, impl Sized) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(level)
        .with_writer(move || writer.clone())
        .finish();
    // With one subscriber in the process, tracing asks the thread that first meets a log line whether it is
    // wanted, and remembers that thread's answer. With two it asks both.
    let other = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let guard = tracing::subscriber::set_default(subscriber);
    (log, (other, guard))
}

#[tokio::test]
async fn b140_the_cause_of_a_failure_is_logged_with_the_call() {
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
        "the cloud refused",
        "quota exceeded",
        "webhook=\"ensureBackend\"",
        "recordID=\"ensureBackend(1)\"",
        "retryID=\"try-7\"",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[tokio::test]
async fn a_call_is_logged_with_the_trace_that_its_caller_began() {
    let (log, _guard) = log();
    let (router, _) = stage();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (traceparent, is_named) in [
        (format!("00-{trace}-00f067aa0ba902b7-01"), true),
        (format!("00-{trace}-00f067aa0ba902b7"), false),
    ] {
        let body = ensure("try-9", json!({"do": "fail"})).to_string();
        let request = Request::post("/ensureBackend").header("traceparent", traceparent);
        let response = send(&router, request.body(body.into()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let text = log.text();
        let line = text.lines().last().unwrap();
        let named = format!("traceID=\"{trace}\"");
        assert_eq!(line.contains(&named), is_named, "{line}");
        assert_eq!(line.contains("traceID"), is_named, "{line}");
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

#[tokio::test]
async fn the_end_of_each_hook_is_logged_with_its_load_balancer() {
    let (log, _guard) = log_from(tracing::Level::DEBUG);
    let (router, _) = stage();
    let mut body = ensure("try-1", json!({}));
    body["lbInfo"] = json!({"region": "north", "zone": "1"});
    ok(&router, "/ensureBackend", &body).await;
    body["lbInfo"]["id"] = "lb-1".into();
    body["parameters"] = json!({"do": "fail"});
    ok(&router, "/ensureBackend", &body).await;
    let refuse = json!({"operation": "Create", "parameters": {"do": "refuse"}});
    ok(&router, "/validateBackend", &refuse).await;
    let text = log.text();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains("the hook"))
        .collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, parts) in lines.into_iter().zip([
        ["DEBUG", "succeeded", "loadBalancer=\"region=north,zone=1\""],
        // The driver's serial key.
        [
            "WARN",
            "because=\"quota exceeded\"",
            "loadBalancer=\"lb-1\"",
        ],
        ["DEBUG", "the hook refused", "webhook=\"validateBackend\""],
    ]) {
        for part in parts {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(line.contains("took="), "{line}");
    }
}

#[tokio::test]
async fn success_is_not_logged_at_info() {
    let (log, _guard) = log();
    let (router, _) = stage();
    ok(&router, "/ensureBackend", &ensure("1", json!({}))).await;
    assert_eq!(log.text(), "");
}

#[tokio::test]
async fn lines_cannot_be_forged_or_flooded() {
    let (log, _guard) = log();
    let (router, _) = stage();
    let evil = "x\n2026-01-01 INFO all is well\r\u{1b}[2J";
    let mut body = ensure(evil, json!({"do": "fail"}));
    body["recordID"] = format!("{evil}{}", "y".repeat(1 << 20)).into();
    body["lbInfo"] = json!({evil: evil.repeat(1000)});
    ok(&router, "/ensureBackend", &body).await;
    body["lbInfo"] = json!({"id": evil});
    ok(&router, "/ensureBackend", &body).await;
    let text = log.text();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(!text.contains(['\r', '\u{1b}']), "{text}");
    assert!(text.lines().all(|line| line.len() < 2000), "{text}");
}
