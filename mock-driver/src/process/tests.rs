//! Killing a driver that is in the middle of something.

use super::*;
use crate::cloud::Cloud;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, GenerateBackendAddr,
};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use std::future::pending;
use tokio::sync::mpsc;

#[derive(Debug, PartialEq, Eq)]
enum HookEvent {
    Started(String),
    Dropped(String),
}

/// A driver whose `ensureBackend` never completes, and whose other hooks complete at once.
struct Stuck(mpsc::UnboundedSender<HookEvent>);

/// Reports that a running hook is dropped.
struct DropGuard<'a>(&'a Stuck, String);

impl Drop for DropGuard<'_> {
    fn drop(&mut self) {
        let _ = self.0.0.send(HookEvent::Dropped(self.1.clone()));
    }
}

impl Driver for Stuck {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn create_load_balancer(
        &self,
        _: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }

    async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok("a".into())
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let _ = self
            .0
            .send(HookEvent::Started(request.backend_addr.clone()));
        let _guard = DropGuard(self, request.backend_addr);
        pending().await
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
}

fn stuck() -> (DriverProcess, mpsc::UnboundedReceiver<HookEvent>) {
    let (sender, events) = mpsc::unbounded_channel();
    let process = DriverProcess::start(move |run| {
        let driver = ProcessDriver {
            driver: Stuck(sender.clone()),
            cloud: Cloud::empty(),
            run,
        };
        // One at a time, so that the second has to wait.
        let settings = Settings {
            max_running_hooks: 1,
            ..Settings::default()
        };
        let router = DriverRouter::with(driver, settings);
        let hooks = router.running_hooks();
        (router.build(), hooks)
    });
    (process, events)
}

async fn next(events: &mut mpsc::UnboundedReceiver<HookEvent>) -> Option<HookEvent> {
    timeout(Duration::from_secs(60), events.recv())
        .await
        .unwrap()
}

async fn ensure(process: &DriverProcess, addr: &str) -> Response {
    let body = serde_json::json!({"recordID": addr, "retryID": "r", "backendAddr": addr});
    let request = Request::post("/ensureBackend").body(Body::from(body.to_string()));
    process.call(request.unwrap()).await
}

#[tokio::test(start_paused = true)]
async fn asyn_07_a_restart_kills_running_and_waiting_hooks() {
    let (process, mut events) = stuck();
    let (first, second) = (process.clone(), process.clone());
    let first = tokio::spawn(async move { ensure(&first, "a").await });
    assert_eq!(
        next(&mut events).await,
        Some(HookEvent::Started("a".into()))
    );
    let second = tokio::spawn(async move { ensure(&second, "b").await });
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(process.hooks().count(), 2);
    let restarted = process.restart().await;
    assert_eq!(
        restarted,
        RestartReport {
            restarts: 1,
            hooks_killed: 2
        }
    );
    // The waiting one has never started.
    assert_eq!(
        next(&mut events).await,
        Some(HookEvent::Dropped("a".into()))
    );
    assert!(events.is_empty(), "{events:?}");
    for call in [first, second] {
        let response = timeout(Duration::from_secs(60), call).await;
        let response = response.unwrap().unwrap();
        assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
        assert!(response.extensions().get::<NoAnswer>().is_some());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert!(body["error"].as_str().unwrap().contains("killed"));
    }
}

#[tokio::test(start_paused = true)]
async fn asyn_07_the_next_run_has_no_memory_of_the_killed_one() {
    let (process, mut events) = stuck();
    for restarts in 1..=3 {
        let response = ensure(&process, "a").await;
        assert_eq!(
            response.status(),
            StatusCode::OK,
            "Running, while the hook is stuck"
        );
        // If the operation were still in flight, the call would join it and start nothing.
        assert_eq!(
            next(&mut events).await,
            Some(HookEvent::Started("a".into()))
        );
        assert_eq!(process.restart().await.restarts, restarts);
        assert_eq!(
            next(&mut events).await,
            Some(HookEvent::Dropped("a".into()))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn concurrent_restarts_are_serialised() {
    let (process, _events) = stuck();
    let first = process.run();
    let (a, b) = tokio::join!(process.restart(), process.restart());
    assert_eq!([a.restarts, b.restarts], [1, 2]);
    assert!(first.end.is_cancelled());
    assert!(!process.run().end.is_cancelled());
    assert_eq!(ensure(&process, "a").await.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_restart_waits_for_the_killed_run_up_to_a_timeout() {
    let (process, _events) = stuck();
    let _connection = process.run().connection();
    let started = tokio::time::Instant::now();
    let restart = process.clone();
    let restart = tokio::spawn(async move { restart.restart().await });
    tokio::task::yield_now().await;
    // Until then no driver is running.
    let response = ensure(&process, "a").await;
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
    restart.await.unwrap();
    assert_eq!(started.elapsed(), RESTART_TIMEOUT);
    assert_eq!(ensure(&process, "a").await.status(), StatusCode::OK);
}
