//! Jobs that run in this process.

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

type TaskFuture<O> = Pin<Box<dyn Future<Output = Result<O, HookError>> + Send>>;
type TaskFn<R, O> = dyn Fn(R, Progress) -> TaskFuture<O> + Send + Sync;

/// A job that runs in this process: the first call starts it, and a later call collects its result.
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
/// A call waits [1 s by default](Self::answer_within), then it is answered with `Running` and the
/// latest progress. The job ends with the process and starts again after a restart, so each of its
/// parts must find what the last run created. A shutdown should wait for [`idle`](Self::idle).
pub struct InProcess<R, O> {
    task: Box<TaskFn<R, O>>,
    answer_within: Duration,
    running: TaskTracker,
}

impl<R, O> InProcess<R, O>
where
    R: Clone + PartialEq + Send + Sync + 'static,
    O: Clone + Send + Sync + 'static,
{
    /// Runs `task` for each request. An error ends it, and the next call starts it again.
    pub fn new<F, W>(task: F) -> Self
    where
        F: Fn(R, Progress) -> W + Send + Sync + 'static,
        W: Future<Output = Result<O, HookError>> + Send + 'static,
    {
        let running = TaskTracker::new();
        // `wait` only returns on a closed tracker, which tracks new tasks all the same.
        running.close();
        Self {
            task: Box::new(move |request, progress| Box::pin(task(request, progress))),
            answer_within: Duration::from_secs(1),
            running,
        }
    }

    /// The time that a call waits for the result before it is answered with `Running` (default 1 s).
    #[must_use]
    pub const fn answer_within(mut self, limit: Duration) -> Self {
        self.answer_within = limit;
        self
    }

    /// Waits until no job runs, without a timeout. [`Jobs::job`](super::Jobs::job) returns the value
    /// to call it on.
    pub async fn idle(&self) {
        self.running.wait().await;
    }
}

impl<R, O> Job for InProcess<R, O>
where
    R: Clone + PartialEq + Send + Sync + 'static,
    O: Clone + Send + Sync + 'static,
{
    type Request = R;
    type Task = (RunningTask<O>, Progress);
    type Output = O;

    async fn submit(&self, _key: &str, request: &R) -> Result<Self::Task, HookError> {
        let progress = Progress::new();
        let (sender, result) = watch::channel(None);
        let task = (self.task)(request.clone(), progress.clone());
        let task = async move {
            sender.send_replace(Some(task.await));
        };
        self.running.spawn(task.instrument(Span::current()));
        Ok((result, progress))
    }

    async fn poll(&self, (result, progress): &Self::Task) -> Result<JobState<O>, HookError> {
        let mut result = result.clone();
        let result = timeout(self.answer_within, result.wait_for(Option::is_some)).await;
        Ok(match result {
            Err(_) => progress.state(),
            Ok(Ok(result)) => match result.clone() {
                Some(Ok(output)) => JobState::Done(output),
                Some(Err(hook_error)) => JobState::Failed(hook_error),
                None => progress.state(),
            },
            // The task was dropped without a result.
            Ok(Err(_)) => {
                let last = progress.message();
                tracing::error!("a job panicked; its last progress was {last:?}");
                JobState::failed("the driver panicked, see its log")
            }
        })
    }

    async fn cancel(&self, task: &Self::Task) -> Result<JobState<O>, HookError> {
        task.1.cancelled.cancel();
        self.poll(task).await
    }
}

impl<R, O> fmt::Debug for InProcess<R, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess")
            .field("answer_within", &self.answer_within)
            .field("running", &self.running.len())
            .finish_non_exhaustive()
    }
}

/// The result of a job in this process, once it has ended.
type RunningTask<O> = watch::Receiver<Option<Result<O, HookError>>>;

/// Reports the progress of a job in this process, and notifies the job of its cancellation. Clones
/// belong to the same job.
#[derive(Debug, Clone)]
pub struct Progress {
    reported: Arc<Mutex<(String, Duration)>>,
    cancelled: CancellationToken,
}

impl Progress {
    fn new() -> Self {
        Self {
            reported: Arc::new(Mutex::new(("running".to_owned(), Duration::from_secs(1)))),
            cancelled: CancellationToken::new(),
        }
    }

    /// Sets the message for the user.
    pub fn say(&self, message: impl Into<String>) {
        self.with(|reported| reported.0 = message.into());
    }

    /// Sets the least time until the controller calls again (default 1 s).
    pub fn retry_after(&self, delay: Duration) {
        self.with(|reported| reported.1 = delay);
    }

    /// True when the job was [cancelled](super::Jobs::cancel). It may then end early with an error,
    /// provided that it deletes what it has created, or continue to its end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Waits until the job is cancelled.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    fn message(&self) -> String {
        self.with(|reported| reported.0.clone())
    }

    fn state<O>(&self) -> JobState<O> {
        let (message, delay) = self.with(|reported| reported.clone());
        JobState::running(message).retry_after(delay)
    }

    fn with<T>(&self, what: impl FnOnce(&mut (String, Duration)) -> T) -> T {
        what(&mut self.reported.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
