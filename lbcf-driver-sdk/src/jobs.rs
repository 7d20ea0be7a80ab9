#![doc = include_str!("docs/modules/jobs.md")]

mod in_process;
mod job;
mod step;
mod store;

pub use crate::webhook::object_id;
pub use in_process::{InProcess, Progress};
pub use job::{Job, JobState};

use crate::HookError;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use step::{Shared, StepOutcome, StepSender, StoreOf};
use store::{CancelDecision, JobStore, RetainResults, RunDecision, Settings};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// Jobs of one kind, by key. Clones share the jobs.
pub struct Jobs<J: Job> {
    shared: Arc<Shared<J>>,
    settings: Settings,
}

impl<J: Job> Jobs<J> {
    /// An empty set of jobs with the default settings.
    pub fn new(job: J) -> Self {
        let steps = TaskTracker::new();
        // `wait` only returns on a closed tracker, which tracks new tasks all the same.
        steps.close();
        Self {
            shared: Arc::new(Shared {
                job,
                store: Mutex::new(JobStore::default()),
                steps,
            }),
            settings: Settings::default(),
        }
    }

    /// The time that results are retained (default 10 minutes). Set it above the controller's longest
    /// retry interval (2 minutes by default).
    #[must_use]
    pub const fn keep_results(mut self, time: Duration) -> Self {
        self.settings.keep = time;
        self
    }

    /// Removes a result once a call got it; an equal request then starts a new job.
    ///
    /// For operations that the controller repeats periodically to revert changes by others, where a
    /// retained result would be wrong. They must be idempotent.
    #[must_use]
    pub const fn collect_once(mut self) -> Self {
        self.settings.retain = RetainResults::UntilCollected;
        self
    }

    /// The limit of jobs, finished ones included (default 1000). At the limit a new job replaces the
    /// oldest finished one, or else one without a call for a day. If all others are running, the new
    /// one waits.
    #[must_use]
    pub const fn limit(mut self, jobs: usize) -> Self {
        self.settings.limit = jobs;
        self
    }

    /// The timeout of a submit or a poll (default 5 minutes), after which it is dropped and the
    /// call fails. [`Job::find`] recovers the task of a submit that was dropped.
    #[must_use]
    pub const fn step_within(mut self, limit: Duration) -> Self {
        self.settings.step_within = limit;
        self
    }

    /// The job that was passed to [`new`](Self::new).
    #[must_use]
    pub fn job(&self) -> &J {
        &self.shared.job
    }

    /// Submits the job with this key, polls it, or returns its result.
    ///
    /// # Errors
    /// `Running` until it has ended, with the message of the last poll. `Fail` when the job, its
    /// submit or its poll failed; the next call tries again.
    pub async fn run(&self, key: &str, request: J::Request) -> Result<J::Output, HookError> {
        let request = Arc::new(request);
        loop {
            let sender = StepSender::default();
            let outcomes = sender.subscribe();
            let decision = self
                .lock()
                .run(key, &request, Instant::now(), &self.settings, &sender);
            let (id, outcomes, is_own) = match decision {
                RunDecision::Collect(output) => return Ok(output),
                RunDecision::Full => return Err(self.full()),
                RunDecision::Join { id, sender, is_own } => (id, sender.subscribe(), is_own),
                RunDecision::Start { id, step, is_own } => {
                    self.shared.spawn(self.settings, key, id, step, sender);
                    (id, outcomes, is_own)
                }
            };
            match (step::outcome(outcomes).await?, is_own) {
                (StepOutcome::Done(output), true) => {
                    self.lock().collected(key, id, &self.settings);
                    return Ok(output);
                }
                (StepOutcome::Running(hook_error) | StepOutcome::NotPolled(hook_error), true)
                | (StepOutcome::Failed(hook_error) | StepOutcome::NotSubmitted(hook_error), true)
                | (StepOutcome::NotPolled(hook_error), false) => return Err(hook_error),
                (StepOutcome::Running(earlier), false) => return Err(behind(&earlier)),
                // The earlier job has ended.
                (StepOutcome::Done(_) | StepOutcome::Failed(_) | StepOutcome::NotSubmitted(_), false)
                // A cancellation found no task.
                | (StepOutcome::NoTask, _) => {}
            }
        }
    }

    /// Cancels the job with this key, to delete something that is still being created, or to keep a
    /// backend that is still being deregistered. `None` when it did nothing, or is not known and was
    /// not [found](Job::find). `Some` is its result: undo it, then [`forget`](Self::forget) it. Until
    /// then every call returns it, so that undoing it is retried.
    ///
    /// # Errors
    /// `Running` until the job has ended. `Fail` when its state is not known.
    pub async fn cancel(&self, key: &str) -> Result<Option<J::Output>, HookError> {
        loop {
            let sender = StepSender::default();
            let outcomes = sender.subscribe();
            let decision = self
                .lock()
                .cancel(key, Instant::now(), &self.settings, &sender);
            match decision {
                CancelDecision::Created(output) => return Ok(Some(output)),
                CancelDecision::Full => return Err(self.full()),
                // The running step decides whether there is a task to cancel.
                CancelDecision::Wait(sender) => {
                    step::outcome(sender.subscribe()).await?;
                }
                CancelDecision::Start { id, step } => {
                    self.shared.spawn(self.settings, key, id, step, sender);
                    return match step::outcome(outcomes).await? {
                        StepOutcome::Done(output) => Ok(Some(output)),
                        StepOutcome::Failed(_) | StepOutcome::NoTask => Ok(None),
                        StepOutcome::Running(hook_error)
                        | StepOutcome::NotPolled(hook_error)
                        | StepOutcome::NotSubmitted(hook_error) => Err(hook_error),
                    };
                }
            }
        }
    }

    /// Removes the result of the job with this key, after it was undone. A running job is not
    /// removed.
    pub fn forget(&self, key: &str) {
        self.lock().forget_results(|job, _| job == key);
    }

    /// Removes the results for which `is_gone` returns true, where the key is not known.
    pub fn forget_results(&self, is_gone: impl Fn(&J::Output) -> bool) {
        self.lock().forget_results(|_, output| is_gone(output));
    }

    /// The number of jobs that have not ended, as far as is known.
    #[must_use]
    pub fn running(&self) -> usize {
        self.lock().running()
    }

    /// Waits until no job is being submitted or polled. A server that waits for its running hooks
    /// need not call it.
    pub async fn idle(&self) {
        self.shared.steps.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, StoreOf<J>> {
        self.shared.lock()
    }

    fn full(&self) -> HookError {
        HookError::running(format!(
            "waits until one of {} jobs has ended",
            self.settings.limit
        ))
        .retry_after(Duration::from_secs(10))
    }
}

fn behind(earlier: &HookError) -> HookError {
    let message = format!(
        "waits for an earlier request to finish: {}",
        earlier.message()
    );
    let hook_error = HookError::running(message);
    match earlier.delay() {
        Some(delay) => hook_error.retry_after(delay),
        None => hook_error,
    }
}

impl<J: Job> Clone for Jobs<J> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            settings: self.settings,
        }
    }
}

impl<J: Job> fmt::Debug for Jobs<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs")
            .field("running", &self.running())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
