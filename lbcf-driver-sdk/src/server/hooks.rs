//! Running hooks as tasks of their own, and waiting for them.

use super::reject::{Answer, panicked};
use super::runs::{Backend, Call, Kept, RunId, Runs, Subject};
use super::serial::Turns;
use axum::body::Bytes;
use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

/// How much memory uncollected results may take together with the requests they belong to.
const KEPT_BYTES: usize = 64 << 20;

/// Watches the hooks that run, those included that wait for their turn. Clones watch the same.
#[derive(Debug, Clone)]
pub struct RunningHooks(TaskTracker);

impl RunningHooks {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits until there is none. When shutting down, wait for this after the server has stopped
    /// accepting calls, and set a limit of your own: hooks have none.
    pub async fn idle(&self) {
        self.0.wait().await;
    }
}

impl Default for RunningHooks {
    fn default() -> Self {
        let tracker = TaskTracker::new();
        // An open tracker is never done; a closed one still tracks new tasks.
        tracker.close();
        Self(tracker)
    }
}

/// An operation that a call asks for.
pub(super) struct Operation {
    pub(super) webhook: &'static str,
    pub(super) subject: Subject,
    pub(super) content: Bytes,
    pub(super) backend: Option<Backend>,
    pub(super) serial_key: Option<String>,
}

/// The operation was not done in time; it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotYet {
    /// It waits for earlier operations.
    Queued,
    /// It runs.
    Running,
}

#[derive(Debug, Clone)]
enum Progress {
    Queued,
    Running,
    Over(Answer),
}

/// All hooks of one router.
pub(super) struct Hooks {
    running: RunningHooks,
    runs: Arc<SharedRuns>,
    records: Turns<Subject>,
    load_balancers: Turns<String>,
}

struct SharedRuns {
    runs: Mutex<Runs<watch::Receiver<Progress>>>,
    keep_results: Duration,
}

impl Hooks {
    pub(super) fn new(running: RunningHooks, keep_results: Duration) -> Self {
        Self {
            running,
            runs: Arc::new(SharedRuns {
                runs: Mutex::new(Runs::new(KEPT_BYTES)),
                keep_results,
            }),
            records: Turns::default(),
            load_balancers: Turns::default(),
        }
    }

    /// Runs `work`, unless an equal operation runs or has left its result.
    pub(super) async fn operate<W>(
        &self,
        operation: Operation,
        deadline: Instant,
        work: W,
    ) -> Result<Answer, NotYet>
    where
        W: Future<Output = Answer> + Send + 'static,
    {
        let Operation {
            webhook,
            subject,
            content,
            backend,
            serial_key,
        } = operation;
        let (progress, listen) = watch::channel(Progress::Queued);
        let (id, listen) = {
            let mut runs = self.runs.lock();
            match runs.call(&subject, &content, backend.as_ref(), listen.clone()) {
                Call::Collect(answer) => {
                    tracing::debug!("collects the result of an earlier call");
                    return Ok(answer);
                }
                Call::Join(id, listen) => {
                    tracing::debug!("joins the operation that an earlier call began");
                    (id, listen)
                }
                Call::Start(id) => {
                    // Both places are taken before the next call is looked at, so everybody
                    // waits for earlier calls only, and no two for each other.
                    let mut record = self.records.take_place(subject.clone());
                    let mut load_balancer =
                        serial_key.map(|key| self.load_balancers.take_place(key));
                    let runs = Arc::clone(&self.runs);
                    let subject = subject.clone();
                    let task = async move {
                        record.come().await;
                        if let Some(load_balancer) = &mut load_balancer {
                            load_balancer.come().await;
                        }
                        progress.send_replace(Progress::Running);
                        let result = contain(webhook, work).await;
                        runs.finished(&subject, id, result.clone());
                        let answer = result.unwrap_or_else(|| panicked(webhook));
                        progress.send_replace(Progress::Over(answer));
                    };
                    self.running.0.spawn(task.instrument(Span::current()));
                    (id, listen)
                }
            }
        };
        let waiting = Waiting {
            runs: Arc::clone(&self.runs),
            subject,
            id,
            end: End::HungUp,
        };
        wait(webhook, waiting, listen, deadline).await
    }

    /// Runs `work`; nothing comes of it when it takes too long or panics.
    pub(super) async fn decide<W>(
        &self,
        webhook: &'static str,
        deadline: Instant,
        work: W,
    ) -> Option<Answer>
    where
        W: Future<Output = Answer> + Send + 'static,
    {
        let (decided, decision) = oneshot::channel();
        let task = async move {
            let answer = contain(webhook, work).await;
            // Nobody listens any more when it took too long.
            let _ = decided.send(answer.unwrap_or_else(|| panicked(webhook)));
        };
        self.running.0.spawn(task.instrument(Span::current()));
        timeout_at(deadline, decision)
            .await
            .ok()
            .map(|answer| answer.unwrap_or_else(|_| panicked(webhook)))
    }
}

async fn wait(
    webhook: &str,
    mut waiting: Waiting,
    mut listen: watch::Receiver<Progress>,
    deadline: Instant,
) -> Result<Answer, NotYet> {
    let over = listen.wait_for(|progress| matches!(progress, Progress::Over(_)));
    let in_time = timeout_at(deadline, over)
        .await
        .map(|over| over.map(|progress| progress.clone()));
    let progress = match in_time {
        Ok(Ok(progress)) => progress,
        // The runtime is shutting down and has dropped the task.
        Ok(Err(_)) => return Ok(panicked(webhook)),
        Err(_) => listen.borrow().clone(),
    };
    match progress {
        Progress::Over(answer) => {
            waiting.end = End::GotResult;
            Ok(answer)
        }
        Progress::Running => {
            waiting.end = End::Promised;
            Err(NotYet::Running)
        }
        Progress::Queued => {
            waiting.end = End::Promised;
            Err(NotYet::Queued)
        }
    }
}

/// A call that waits for an operation. The connection may drop it at any time.
struct Waiting {
    runs: Arc<SharedRuns>,
    subject: Subject,
    id: RunId,
    end: End,
}

/// How waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the result.
    GotResult,
    /// With `Running`, on which the caller comes again.
    Promised,
    /// The caller is gone.
    HungUp,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.end == End::GotResult {
            self.runs.lock().got(&self.subject, self.id);
        } else {
            let promised = self.end == End::Promised;
            let kept = self.runs.lock().left(&self.subject, self.id, promised);
            self.runs.expire_later(kept, &self.subject, self.id);
        }
    }
}

impl SharedRuns {
    fn lock(&self) -> MutexGuard<'_, Runs<watch::Receiver<Progress>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finished(self: &Arc<Self>, subject: &Subject, id: RunId, result: Option<Answer>) {
        let kept = self.lock().finished(subject, id, result);
        self.expire_later(kept, subject, id);
    }

    fn expire_later(self: &Arc<Self>, kept: Kept, subject: &Subject, id: RunId) {
        // Without a runtime everything is about to end anyway.
        if kept == Kept::Yes
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (runs, subject) = (Arc::downgrade(self), subject.clone());
            let keep = self.keep_results;
            runtime.spawn(async move {
                tokio::time::sleep(keep).await;
                if let Some(runs) = runs.upgrade() {
                    runs.lock().expire(&subject, id);
                }
            });
        }
    }
}

/// The future's output, or nothing when it panics; then the panic is logged.
async fn contain<F: Future>(webhook: &str, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
            Err(panic) => {
                log_panic(webhook, panic.as_ref());
                Poll::Ready(None)
            }
        },
    )
    .await
}

/// The same for what is no future.
pub(super) fn contain_call<T>(webhook: &str, call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call))
        .inspect_err(|panic| log_panic(webhook, panic.as_ref()))
        .ok()
}

fn log_panic(webhook: &str, panic: &(dyn Any + Send)) {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)");
    tracing::error!("{webhook} panicked: {text}");
}
