//! The driver's process, inside this one: it can be killed and started again while the cloud keeps
//! running. Drivers in the field end like this at any time (a crash, an upgrade, a drained node), so
//! they must not keep in memory what they need later (ASYN-07, LIFE-05).
//!
//! When a run ends, pending calls get no response, running hooks are cancelled where they wait, and
//! the SDK's record of running operations is lost.

mod process_driver;

pub(crate) use process_driver::ProcessDriver;

use crate::no_answer::NoAnswer;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
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

/// The time that a restart waits for connections and hooks of the killed run to end.
const RESTART_TIMEOUT: Duration = Duration::from_secs(5);

/// The driver's process; clones are handles to the same one.
#[derive(Debug, Clone)]
pub(crate) struct DriverProcess(Arc<SharedProcess>);

/// Builds the webhooks of a run, which end with the run.
type StartRun = dyn Fn(RunHandle) -> (Router, RunningHooks) + Send + Sync;

struct SharedProcess {
    start: Box<StartRun>,
    state: Mutex<ProcessState>,
    restarting: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct ProcessState {
    run: ProcessRun,
    restarts: u64,
}

#[derive(Debug, Clone)]
struct ProcessRun {
    router: Router,
    hooks: RunningHooks,
    handle: RunHandle,
}

/// Ends a run of the process, and reports the end; clones are of the same run.
#[derive(Debug, Clone)]
pub(crate) struct RunHandle {
    end: CancellationToken,
    connections: TaskTracker,
}

/// The result of a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestartReport {
    /// The number of restarts until now.
    pub(crate) restarts: u64,
    /// The number of hooks that were running, or waiting to run, when the process was killed.
    pub(crate) hooks_killed: usize,
}

impl DriverProcess {
    pub(crate) fn start(
        start: impl Fn(RunHandle) -> (Router, RunningHooks) + Send + Sync + 'static,
    ) -> Self {
        let run = ProcessRun::start(&start);
        Self(Arc::new(SharedProcess {
            start: Box::new(start),
            state: Mutex::new(ProcessState { run, restarts: 0 }),
            restarting: tokio::sync::Mutex::default(),
        }))
    }

    /// Forwards a request to the current run.
    pub(crate) async fn call(&self, request: Request<Body>) -> Response {
        let ProcessRun { router, handle, .. } = self.current_run();
        let response = router.oneshot(request);
        tokio::select! {
            biased;
            () = handle.ended() => killed(),
            response = response => response.unwrap_or_else(|never: Infallible| match never {}),
        }
    }

    /// Kills the current run, waits until nothing of it is running, and starts another one. Calls in
    /// between get no response, as from a process that does not exist.
    pub(crate) async fn restart(&self) -> RestartReport {
        let _one_at_a_time = self.0.restarting.lock().await;
        let killed = self.current_run();
        let hooks_killed = killed.hooks.count();
        killed.handle.kill();
        let ended = async {
            killed.handle.connections.wait().await;
            killed.hooks.idle().await;
        };
        if timeout(RESTART_TIMEOUT, ended).await.is_err() {
            tracing::warn!("connections or hooks of the killed driver are still running");
        }
        let next = ProcessRun::start(&*self.0.start);
        let restarts = {
            let mut state = self.0.state();
            state.run = next;
            state.restarts += 1;
            state.restarts
        };
        tracing::info!(restarts, hooks_killed, "the mock driver was restarted");
        RestartReport {
            restarts,
            hooks_killed,
        }
    }

    /// The hooks of the current run.
    pub(crate) fn hooks(&self) -> RunningHooks {
        self.current_run().hooks
    }

    /// The handle of the current run.
    pub(crate) fn run(&self) -> RunHandle {
        self.current_run().handle
    }

    fn current_run(&self) -> ProcessRun {
        self.0.state().run.clone()
    }
}

impl SharedProcess {
    fn state(&self) -> MutexGuard<'_, ProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)
    }
}

impl ProcessRun {
    fn start(start: &StartRun) -> Self {
        let handle = RunHandle::new();
        let (router, hooks) = start(handle.clone());
        Self {
            router,
            hooks,
            handle,
        }
    }
}

impl RunHandle {
    pub(crate) fn new() -> Self {
        let connections = TaskTracker::new();
        // A tracker must be closed to be waited for; it still accepts connections.
        connections.close();
        Self {
            end: CancellationToken::new(),
            connections,
        }
    }

    /// Waits until the run has ended.
    pub(crate) fn ended(&self) -> WaitForCancellationFuture<'_> {
        self.end.cancelled()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_cancelled()
    }

    pub(crate) fn kill(&self) {
        self.end.cancel();
    }

    /// Held by a connection until it has noticed the end of the run: a restart waits for it.
    pub(crate) fn connection(&self) -> TaskTrackerToken {
        self.connections.token()
    }
}

/// The response to a call whose run was killed.
fn killed() -> Response {
    NoAnswer::Close.response("the driver was killed before it replied")
}

#[cfg(test)]
mod tests;
