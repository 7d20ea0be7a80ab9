//! Killing a driver that is in the middle of something.

use super::*;
use http_body_util::BodyExt;
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::{
    DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
};
use lbcf_driver_sdk::{HookError, RawDriver};
use std::future::pending;
use tokio::sync::mpsc;

/// What became of hooks, in order.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Began(String),
    Died(String),
}

/// A driver whose `ensureBackend` never ends, and whose other hooks are done at once.
struct Stuck(mpsc::UnboundedSender<Event>);

/// Tells of the end of a hook that does not come to its end.
struct Grave<'a>(&'a Stuck, String);

impl Drop for Grave<'_> {
    fn drop(&mut self) {
        let _ = self.0.0.send(Event::Died(self.1.clone()));
    }
}

impl RawDriver for Stuck {
    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddrRequest,
    ) -> Result<String, HookError> {
        Ok("a".into())
    }

    async fn ensure_backend(&self, request: EnsureBackendRequest) -> Result<StringMap, HookError> {
        let _ = self.0.send(Event::Began(request.backend_addr.clone()));
        let _grave = Grave(self, request.backend_addr);
        pending().await
    }

    async fn deregister_backend(&self, _: DeregisterBackendRequest) -> Result<(), HookError> {
        Ok(())
    }
}

fn stuck() -> (Process, mpsc::UnboundedReceiver<Event>) {
    let (tell, events) = mpsc::unbounded_channel();
    let process = Process::start(move |life| {
        let driver = Mortal {
            driver: Stuck(tell.clone()),
            life,
        };
        // One at a time, so that the second waits for its turn.
        let router = DriverRouter::new(driver).max_running_hooks(1);
        let hooks = router.running_hooks();
        (router.build(), hooks)
    });
    (process, events)
}

/// What happens next, if anything does.
async fn next(events: &mut mpsc::UnboundedReceiver<Event>) -> Option<Event> {
    timeout(Duration::from_secs(60), events.recv())
        .await
        .unwrap()
}

/// `ensureBackend` of this address.
async fn ensure(process: &Process, addr: &str) -> Response {
    let body = serde_json::json!({"recordID": addr, "retryID": "r", "backendAddr": addr});
    let request = Request::post("/ensureBackend").body(Body::from(body.to_string()));
    process.answer(request.unwrap()).await
}

#[tokio::test(start_paused = true)]
async fn asyn_07_a_restart_kills_what_is_at_work_and_what_waits() {
    let (process, mut events) = stuck();
    let (first, second) = (process.clone(), process.clone());
    let first = tokio::spawn(async move { ensure(&first, "a").await });
    assert_eq!(next(&mut events).await, Some(Event::Began("a".into())));
    let second = tokio::spawn(async move { ensure(&second, "b").await });
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(process.hooks().count(), 2);
    let restarted = process.restart().await;
    assert_eq!(
        restarted,
        Restarted {
            restarts: 1,
            hooks_killed: 2
        }
    );
    // The one that waited was never begun.
    assert_eq!(next(&mut events).await, Some(Event::Died("a".into())));
    assert!(events.is_empty(), "{events:?}");
    for call in [first, second] {
        let answer = timeout(Duration::from_secs(60), call).await;
        let answer = answer.unwrap().unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
        assert!(answer.extensions().get::<Killed>().is_some());
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert!(body["error"].as_str().unwrap().contains("killed"));
    }
}

#[tokio::test(start_paused = true)]
async fn asyn_07_the_next_run_knows_nothing_of_the_killed_one() {
    let (process, mut events) = stuck();
    for restarts in 1..=3 {
        let answer = ensure(&process, "a").await;
        assert_eq!(answer.status(), StatusCode::OK, "it is told to ask again");
        // Were the operation still known, the call would join it and begin nothing.
        assert_eq!(next(&mut events).await, Some(Event::Began("a".into())));
        assert_eq!(process.restart().await.restarts, restarts);
        assert_eq!(next(&mut events).await, Some(Event::Died("a".into())));
    }
}

#[tokio::test(start_paused = true)]
async fn two_restarts_at_a_time_come_one_after_the_other() {
    let (process, _events) = stuck();
    let first = process.life();
    let (a, b) = tokio::join!(process.restart(), process.restart());
    assert_eq!([a.restarts, b.restarts], [1, 2]);
    assert!(first.over.is_cancelled());
    assert!(!process.life().over.is_cancelled());
    assert_eq!(ensure(&process, "a").await.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_killed_driver_that_does_not_end_holds_a_restart_up_for_a_while_only() {
    let (process, _events) = stuck();
    let _connection = process.life().connection();
    let begun = tokio::time::Instant::now();
    let restart = process.clone();
    let restart = tokio::spawn(async move { restart.restart().await });
    tokio::task::yield_now().await;
    // Until then there is no driver.
    let answer = ensure(&process, "a").await;
    assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
    restart.await.unwrap();
    assert_eq!(begun.elapsed(), END_LIMIT);
    assert_eq!(ensure(&process, "a").await.status(), StatusCode::OK);
}
