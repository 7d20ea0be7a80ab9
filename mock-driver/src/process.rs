//! The driver's process, within this one: it can be killed and started again while the cloud
//! stays. A driver in the field dies like this at any time (a crash, a new version, a drained
//! node), so what it must not forget cannot be kept in its memory (ASYN-07, LIFE-05).
//!
//! When a run of it ends, calls that wait for an answer get none, hooks that are at work break
//! off where they wait, and what the SDK remembered of running operations is gone.

mod mortal;

pub(crate) use mortal::Mortal;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use lbcf_driver_sdk::server::RunningHooks;
use serde::Serialize;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower::ServiceExt;

/// How long a restart waits for the end of what the killed run was doing.
const END_LIMIT: Duration = Duration::from_secs(5);

/// The driver's process; clones are handles to the same one.
#[derive(Debug, Clone)]
pub(crate) struct Process(Arc<Shared>);

struct Shared {
    /// Begins a run, which ends with the life it is given.
    start: Box<dyn Fn(Life) -> (Router, RunningHooks) + Send + Sync>,
    now: Mutex<Now>,
    restarting: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Now {
    run: Run,
    restarts: u64,
}

/// One run of the process.
#[derive(Debug, Clone)]
struct Run {
    router: Router,
    hooks: RunningHooks,
    life: Life,
}

/// How long a run goes on, and who is to hear of its end. Clones are of the same run.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    over: CancellationToken,
    connections: TaskTracker,
}

/// What a restart did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Restarted {
    /// How often the process was restarted by now.
    pub(crate) restarts: u64,
    /// How many hooks were at work, or waited for their turn, when it was killed.
    pub(crate) hooks_killed: usize,
}

/// Marks the answer to a call whose run was killed. Where there are connections, they break
/// instead of carrying it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Killed;

impl Process {
    /// Starts it.
    pub(crate) fn start(
        start: impl Fn(Life) -> (Router, RunningHooks) + Send + Sync + 'static,
    ) -> Self {
        let run = Run::begin(&start);
        Self(Arc::new(Shared {
            start: Box::new(start),
            now: Mutex::new(Now { run, restarts: 0 }),
            restarting: tokio::sync::Mutex::default(),
        }))
    }

    /// The answer of the run that there is when the call comes.
    pub(crate) async fn answer(&self, request: Request<Body>) -> Response {
        let Run { router, life, .. } = self.run();
        let answer = router.oneshot(request);
        tokio::select! {
            biased;
            () = life.is_over() => killed(),
            answer = answer => answer.unwrap_or_else(|never: Infallible| match never {}),
        }
    }

    /// Kills the run that there is, waits until nothing of it is left at work, and begins another.
    /// Who calls in between gets no answer, as from a process that is not there.
    pub(crate) async fn restart(&self) -> Restarted {
        let _one_at_a_time = self.0.restarting.lock().await;
        let killed = self.run();
        let hooks_killed = killed.hooks.count();
        killed.life.end();
        let ended = async {
            killed.life.connections.wait().await;
            killed.hooks.idle().await;
        };
        if timeout(END_LIMIT, ended).await.is_err() {
            tracing::warn!("the killed driver still has something at work");
        }
        let next = Run::begin(&self.0.start);
        let restarts = {
            let mut now = self.0.now();
            now.run = next;
            now.restarts += 1;
            now.restarts
        };
        tracing::info!(restarts, hooks_killed, "the mock driver was restarted");
        Restarted {
            restarts,
            hooks_killed,
        }
    }

    /// The hooks of the run that there is.
    pub(crate) fn hooks(&self) -> RunningHooks {
        self.run().hooks
    }

    /// The life of the run that there is.
    pub(crate) fn life(&self) -> Life {
        self.run().life
    }

    fn run(&self) -> Run {
        self.0.now().run.clone()
    }
}

impl Shared {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.now.fmt(f)
    }
}

impl Run {
    fn begin(start: &dyn Fn(Life) -> (Router, RunningHooks)) -> Self {
        let life = Life::new();
        let (router, hooks) = start(life.clone());
        Self {
            router,
            hooks,
            life,
        }
    }
}

impl Life {
    pub(crate) fn new() -> Self {
        let connections = TaskTracker::new();
        // An open tracker is never done; a closed one still tracks new connections.
        connections.close();
        Self {
            over: CancellationToken::new(),
            connections,
        }
    }

    /// Waits until it is over.
    pub(crate) fn is_over(&self) -> WaitForCancellationFuture<'_> {
        self.over.cancelled()
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.over.cancel();
    }

    /// Held by a connection until it has heard of the end.
    pub(crate) fn connection(&self) -> TaskTrackerToken {
        self.connections.token()
    }
}

/// What whoever stands before a server that died in the middle of a call says.
fn killed() -> Response {
    let message = serde_json::json!({ "error": "the driver was killed before it answered" });
    let json = [("content-type", "application/json")];
    let mut response = (StatusCode::BAD_GATEWAY, json, message.to_string()).into_response();
    response.extensions_mut().insert(Killed);
    response
}

#[cfg(test)]
mod tests;
