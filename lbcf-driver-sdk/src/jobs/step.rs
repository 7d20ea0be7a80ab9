//! Runs one step of a job (submit, poll, find, cancel) as a task of its own.

use super::job::{Job, JobState};
use super::store::{JobStep, JobStore, Settings, StepEnd, StepId};
use crate::HookError;
use crate::outcome::chain;
use crate::server::panic_text;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::{Instant, timeout};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::{Instrument, Span};

/// The state that all handles to the same jobs share.
pub(super) struct Shared<J: Job> {
    pub(super) job: J,
    pub(super) store: Mutex<StoreOf<J>>,
    pub(super) steps: TaskTracker,
}

pub(super) type StoreOf<J> = JobStore<
    <J as Job>::Request,
    <J as Job>::Task,
    <J as Job>::Output,
    StepSender<<J as Job>::Output>,
>;

#[derive(Debug, Clone)]
pub(super) enum StepOutcome<O> {
    Running(HookError),
    Done(O),
    /// The task ended without a result.
    Failed(HookError),
    /// The poll failed, so the state of the task is not known.
    NotPolled(HookError),
    /// The search or the submit failed.
    NotSubmitted(HookError),
    /// A cancellation found no task.
    NoTask,
}

/// Publishes a step's outcome to the calls that wait for it. Clones belong to the same step.
#[derive(Debug)]
pub(super) struct StepSender<O>(watch::Sender<Option<StepOutcome<O>>>);

impl<O> StepSender<O> {
    pub(super) fn subscribe(&self) -> watch::Receiver<Option<StepOutcome<O>>> {
        self.0.subscribe()
    }
}

impl<O> Default for StepSender<O> {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl<O> Clone for StepSender<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Waits for the step's end. Every step ends: it has a timeout, and reports when it is dropped.
pub(super) async fn outcome<O: Clone>(
    mut outcomes: watch::Receiver<Option<StepOutcome<O>>>,
) -> Result<StepOutcome<O>, HookError> {
    let ended = outcomes.wait_for(Option::is_some).await;
    ended
        .ok()
        .and_then(|outcome| outcome.clone())
        .ok_or_else(shut_down)
}

fn shut_down() -> HookError {
    HookError::fail("the driver is shutting down")
}

impl<J: Job> Shared<J> {
    pub(super) fn lock(&self) -> MutexGuard<'_, StoreOf<J>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the step, independently of the calls that wait for it.
    pub(super) fn spawn(
        self: &Arc<Self>,
        settings: Settings,
        key: &str,
        id: StepId,
        step: JobStep<J::Request, J::Task>,
        sender: StepSender<J::Output>,
    ) {
        let shared = Arc::clone(self);
        let limit = settings.step_within;
        let ending = Ending {
            shared: Arc::clone(&shared),
            settings,
            key: key.to_owned(),
            id,
            sender,
            outcome: None,
        };
        let key = key.to_owned();
        let run = async move { shared.run_step(&key, id, step).await };
        let run = run.instrument(Span::current());
        let supervised = async move {
            // A task of its own, to catch panics.
            let run = AbortOnDropHandle::new(tokio::spawn(run));
            let outcome = match timeout(limit, run).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => ending.aborted(panicked(error)),
                Err(_) => ending.aborted(HookError::fail(format!("took longer than {limit:?}"))),
            };
            ending.with(outcome);
        };
        let supervised = supervised.instrument(Span::current());
        self.steps.spawn(supervised);
    }

    async fn run_step(
        &self,
        key: &str,
        id: StepId,
        step: JobStep<J::Request, J::Task>,
    ) -> StepOutcome<J::Output> {
        match step {
            JobStep::Poll(task) => StepOutcome::of_task(self.job.poll(&task).await),
            JobStep::Cancel(task) => StepOutcome::of_task(self.job.cancel(&task).await),
            JobStep::Submit(request) => {
                let task = match self.job.find(key, Some(&request)).await {
                    Ok(Some(task)) => Ok(task),
                    Ok(None) => self.job.submit(key, &request).await,
                    Err(hook_error) => Err(hook_error),
                };
                match task {
                    Ok(task) => {
                        let task = self.accepted(key, id, task);
                        StepOutcome::of_task(self.job.poll(&task).await)
                    }
                    Err(hook_error) => StepOutcome::NotSubmitted(hook_error),
                }
            }
            JobStep::FindAndCancel => match self.job.find(key, None).await {
                Ok(Some(task)) => {
                    let task = self.accepted(key, id, task);
                    StepOutcome::of_task(self.job.cancel(&task).await)
                }
                Ok(None) => StepOutcome::NoTask,
                Err(hook_error) => StepOutcome::NotSubmitted(hook_error),
            },
        }
    }

    /// Stores the task before it is used.
    fn accepted(&self, key: &str, id: StepId, task: J::Task) -> Arc<J::Task> {
        let task = Arc::new(task);
        self.lock().accepted(key, id, &task);
        task
    }
}

impl<O: Clone> StepOutcome<O> {
    fn of_task(state: Result<JobState<O>, HookError>) -> Self {
        match state {
            Ok(JobState::Done(output)) => Self::Done(output),
            Ok(JobState::Failed(hook_error)) => Self::Failed(hook_error),
            Ok(JobState::Running { message, delay }) => {
                let running = HookError::running(message);
                Self::Running(match delay {
                    Some(delay) => running.retry_after(delay),
                    None => running,
                })
            }
            Err(hook_error) => Self::NotPolled(hook_error),
        }
    }

    fn end(&self) -> StepEnd<O> {
        match self {
            Self::Done(output) => StepEnd::Done(output.clone()),
            Self::Failed(_) | Self::NoTask => StepEnd::NoResult,
            Self::Running(_) | Self::NotPolled(_) | Self::NotSubmitted(_) => StepEnd::Unfinished,
        }
    }

    fn failure(&self) -> Option<&HookError> {
        match self {
            Self::Failed(hook_error)
            | Self::NotPolled(hook_error)
            | Self::NotSubmitted(hook_error) => Some(hook_error),
            Self::Running(_) | Self::Done(_) | Self::NoTask => None,
        }
    }
}

/// Reports the end of a step when dropped, whether it ended, panicked or was aborted.
struct Ending<J: Job> {
    shared: Arc<Shared<J>>,
    settings: Settings,
    key: String,
    id: StepId,
    sender: StepSender<J::Output>,
    outcome: Option<StepOutcome<J::Output>>,
}

impl<J: Job> Ending<J> {
    fn with(mut self, outcome: StepOutcome<J::Output>) {
        self.outcome = Some(outcome);
    }

    /// The outcome of an aborted step, which depends on whether there is a task.
    fn aborted(&self, hook_error: HookError) -> StepOutcome<J::Output> {
        if self.shared.lock().has_task(&self.key, self.id) {
            StepOutcome::NotPolled(hook_error)
        } else {
            StepOutcome::NotSubmitted(hook_error)
        }
    }
}

impl<J: Job> Drop for Ending<J> {
    fn drop(&mut self) {
        let outcome = self.outcome.take();
        let outcome = outcome.unwrap_or_else(|| self.aborted(shut_down()));
        if let Some(hook_error) = outcome.failure()
            && self.sender.0.receiver_count() == 0
        {
            // No call waits for the error any more.
            let because = hook_error.source().map(chain);
            tracing::warn!(job = self.key, because, "{}", hook_error.message());
        }
        let now = Instant::now();
        let (end, settings) = (outcome.end(), &self.settings);
        self.shared
            .lock()
            .ended(&self.key, self.id, end, now, settings);
        self.sender.0.send_replace(Some(outcome));
    }
}

fn panicked(error: JoinError) -> HookError {
    match error.try_into_panic() {
        Ok(panic) => {
            tracing::error!("a job panicked: {}", panic_text(panic.as_ref()));
            HookError::fail("the driver panicked, see its log")
        }
        Err(_) => shut_down(),
    }
}
