//! Jobs that are work of this process.

use super::{Job, JobState};
use crate::HookError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

type WorkFuture<O> = Pin<Box<dyn Future<Output = Result<O, HookError>> + Send>>;
type WorkFn<R, O> = dyn Fn(R, Progress) -> WorkFuture<O> + Send + Sync;

/// A job that is work of this process: begun by the first call, running by itself, its result
/// collected by a later call.
///
/// ```
/// use lbcf_driver_sdk::HookError;
/// use lbcf_driver_sdk::jobs::{InProcess, Jobs, Progress};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let creation = InProcess::new(|zone: String, progress: Progress| async move {
///     progress.say("allocating an address");
///     // …
///     progress.say("creating the listener");
///     // …
///     Ok(format!("lb-in-{zone}"))
/// });
/// let jobs: Jobs<InProcess<String, String>> = Jobs::new(creation);
/// assert_eq!(jobs.run("1b671a64", "a".into()).await.unwrap(), "lb-in-a");
/// # }
/// ```
///
/// A call waits for the work [for a moment](Self::answer_within), then it is answered with
/// `Running` and what the work said last. The work ends with the process: a driver that is
/// restarted begins it anew, so each of its parts must find what the last run has left. When
/// shutting down, wait for [`idle`](Self::idle).
pub struct InProcess<R, O> {
    work: Box<WorkFn<R, O>>,
    answer_within: Duration,
    at_work: TaskTracker,
}

impl<R, O> InProcess<R, O>
where
    R: Clone + PartialEq + Send + Sync + 'static,
    O: Clone + Send + Sync + 'static,
{
    /// The work for a request. An error ends it, and the next call begins anew.
    pub fn new<F, W>(work: F) -> Self
    where
        F: Fn(R, Progress) -> W + Send + Sync + 'static,
        W: Future<Output = Result<O, HookError>> + Send + 'static,
    {
        let at_work = TaskTracker::new();
        // An open tracker is never done; a closed one still tracks new tasks.
        at_work.close();
        Self {
            work: Box::new(move |request, progress| Box::pin(work(request, progress))),
            answer_within: Duration::from_secs(1),
            at_work,
        }
    }

    /// How long a call waits for the work to be done before it is answered with `Running` (default
    /// 1 s).
    #[must_use]
    pub const fn answer_within(mut self, limit: Duration) -> Self {
        self.answer_within = limit;
        self
    }

    /// Waits until all work is done, and sets no limit to it.
    /// [`Jobs::job`](super::Jobs::job) gives what this is called on.
    pub async fn idle(&self) {
        self.at_work.wait().await;
    }
}

impl<R, O> Job for InProcess<R, O>
where
    R: Clone + PartialEq + Send + Sync + 'static,
    O: Clone + Send + Sync + 'static,
{
    type Request = R;
    type Task = Work<O>;
    type Output = O;

    async fn submit(&self, _key: &str, request: &R) -> Result<Work<O>, HookError> {
        let progress = Progress::new();
        let (result, over) = watch::channel(None);
        let work = (self.work)(request.clone(), progress.clone());
        let work = async move {
            result.send_replace(Some(work.await));
        };
        self.at_work.spawn(work.instrument(Span::current()));
        Ok(Work { over, progress })
    }

    async fn poll(&self, work: &Work<O>) -> Result<JobState<O>, HookError> {
        let mut over = work.over.clone();
        let result = timeout(self.answer_within, over.wait_for(Option::is_some)).await;
        Ok(match result {
            Err(_) => work.progress.state(),
            Ok(Ok(result)) => match result.clone() {
                Some(Ok(output)) => JobState::Done(output),
                Some(Err(hook_error)) => JobState::Failed(hook_error),
                None => work.progress.state(),
            },
            // It was dropped before it had a result.
            Ok(Err(_)) => {
                let last = work.progress.message();
                tracing::error!("a job's work panicked; the last it said was {last:?}");
                JobState::failed("the driver panicked at it, see its log")
            }
        })
    }

    async fn cancel(&self, work: &Work<O>) -> Result<JobState<O>, HookError> {
        work.progress.cancelled.cancel();
        self.poll(work).await
    }
}

impl<R, O> fmt::Debug for InProcess<R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess")
            .field("answer_within", &self.answer_within)
            .field("at_work", &self.at_work.len())
            .finish_non_exhaustive()
    }
}

/// Work that runs, or has ended.
pub struct Work<O> {
    over: watch::Receiver<Option<Result<O, HookError>>>,
    progress: Progress,
}

impl<O> fmt::Debug for Work<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work")
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

/// How work tells how far it is, and hears that it is not wanted any more. Clones are the same.
#[derive(Debug, Clone)]
pub struct Progress {
    said: Arc<Mutex<(String, Duration)>>,
    cancelled: CancellationToken,
}

impl Progress {
    fn new() -> Self {
        Self {
            said: Arc::new(Mutex::new(("at work".to_owned(), Duration::from_secs(1)))),
            cancelled: CancellationToken::new(),
        }
    }

    /// What the user reads from now on.
    pub fn say(&self, message: impl Into<String>) {
        self.with(|said| said.0 = message.into());
    }

    /// How long the controller shall wait at least before it asks again, from now on (1 s unless
    /// said).
    pub fn retry_after(&self, delay: Duration) {
        self.with(|said| said.1 = delay);
    }

    /// Whether somebody wants the work to [end](super::Jobs::cancel). Ending early with an error
    /// is right when what was made by then has been taken away; going on to the end is right too.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Waits until somebody wants the work to end.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    fn message(&self) -> String {
        self.with(|said| said.0.clone())
    }

    fn state<O>(&self) -> JobState<O> {
        let (message, delay) = self.with(|said| said.clone());
        JobState::running(message).retry_after(delay)
    }

    fn with<T>(&self, what: impl FnOnce(&mut (String, Duration)) -> T) -> T {
        what(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
