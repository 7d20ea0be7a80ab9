//! Doing one step of a job as a task of its own, and telling those who wait for it.

use super::table::{End, Settings, Step, StepId};
use super::{Job, JobState, Jobs, Shared};
use crate::HookError;
use crate::outcome::chain;
use std::any::Any;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, Span};

/// What a step came to, for those who wait.
#[derive(Debug, Clone)]
pub(super) enum Outcome<O> {
    /// The task is at work.
    Running(HookError),
    /// The task is over and made this.
    Done(O),
    /// The task is over and made nothing.
    Failed(HookError),
    /// How the task stands could not be found out.
    NotAsked(HookError),
    /// There is no task.
    NotSubmitted(HookError),
    /// No task was found that could be ended.
    NothingThere,
}

/// How to listen to a step. Clones are the same step.
#[derive(Debug)]
pub(super) struct Listen<O>(watch::Sender<Option<Outcome<O>>>);

impl<O> Listen<O> {
    pub(super) fn subscribe(&self) -> watch::Receiver<Option<Outcome<O>>> {
        self.0.subscribe()
    }
}

impl<O> Default for Listen<O> {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl<O> Clone for Listen<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Waits for the step's end, which every step comes to: it has a limit, and one that is dropped
/// reports that.
pub(super) async fn outcome<O: Clone>(
    mut outcomes: watch::Receiver<Option<Outcome<O>>>,
) -> Result<Outcome<O>, HookError> {
    let ended = outcomes.wait_for(Option::is_some).await;
    ended
        .ok()
        .and_then(|outcome| outcome.clone())
        .ok_or_else(shut_down)
}

fn shut_down() -> HookError {
    HookError::fail("the driver is shutting down")
}

impl<J: Job> Jobs<J> {
    /// Does the step, whatever becomes of those who wait.
    pub(super) fn spawn(
        &self,
        key: &str,
        id: StepId,
        step: Step<J::Request, J::Task>,
        listen: Listen<J::Output>,
    ) {
        let shared = Arc::clone(&self.shared);
        let limit = self.settings.step_within;
        let ending = Ending {
            shared: Arc::clone(&shared),
            settings: self.settings,
            key: key.to_owned(),
            id,
            listen,
            outcome: None,
        };
        let key = key.to_owned();
        let work = async move { shared.take(&key, id, step).await };
        let work = work.instrument(Span::current());
        let supervised = async move {
            // A task of its own, so that its panic is its own.
            let work = AbortOnDropHandle::new(tokio::spawn(work));
            let outcome = match timeout(limit, work).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(broken)) => ending.broken(panicked(broken)),
                Err(_) => ending.broken(HookError::fail(format!("took longer than {limit:?}"))),
            };
            ending.with(outcome);
        };
        let supervised = supervised.instrument(Span::current());
        self.shared.steps.spawn(supervised);
    }
}

impl<J: Job> Shared<J> {
    async fn take(
        &self,
        key: &str,
        id: StepId,
        step: Step<J::Request, J::Task>,
    ) -> Outcome<J::Output> {
        match step {
            Step::Poll(task) => Outcome::of_task(self.job.poll(&task).await),
            Step::Cancel(task) => Outcome::of_task(self.job.cancel(&task).await),
            Step::Submit(request) => {
                let task = match self.job.find(key, Some(&request)).await {
                    Ok(Some(task)) => Ok(task),
                    Ok(None) => self.job.submit(key, &request).await,
                    Err(hook_error) => Err(hook_error),
                };
                match task {
                    Ok(task) => {
                        let task = self.accepted(key, id, task);
                        Outcome::of_task(self.job.poll(&task).await)
                    }
                    Err(hook_error) => Outcome::NotSubmitted(hook_error),
                }
            }
            Step::FindAndCancel => match self.job.find(key, None).await {
                Ok(Some(task)) => {
                    let task = self.accepted(key, id, task);
                    Outcome::of_task(self.job.cancel(&task).await)
                }
                Ok(None) => Outcome::NothingThere,
                Err(hook_error) => Outcome::NotSubmitted(hook_error),
            },
        }
    }

    /// Notes the task before anything else is done with it.
    fn accepted(&self, key: &str, id: StepId, task: J::Task) -> Arc<J::Task> {
        let task = Arc::new(task);
        self.lock().accepted(key, id, &task);
        task
    }
}

impl<O: Clone> Outcome<O> {
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
            Err(hook_error) => Self::NotAsked(hook_error),
        }
    }

    fn end(&self) -> End<O> {
        match self {
            Self::Done(output) => End::Done(output.clone()),
            Self::Failed(_) | Self::NothingThere => End::Over,
            Self::Running(_) | Self::NotAsked(_) | Self::NotSubmitted(_) => End::NotYet,
        }
    }

    /// What went wrong, if it did.
    fn failure(&self) -> Option<&HookError> {
        match self {
            Self::Failed(hook_error)
            | Self::NotAsked(hook_error)
            | Self::NotSubmitted(hook_error) => Some(hook_error),
            Self::Running(_) | Self::Done(_) | Self::NothingThere => None,
        }
    }
}

/// Reports the end of a step when dropped, so that it is reported whatever happens.
struct Ending<J: Job> {
    shared: Arc<Shared<J>>,
    settings: Settings,
    key: String,
    id: StepId,
    listen: Listen<J::Output>,
    outcome: Option<Outcome<J::Output>>,
}

impl<J: Job> Ending<J> {
    fn with(mut self, outcome: Outcome<J::Output>) {
        self.outcome = Some(outcome);
    }

    /// A step came to no end of its own: what is known is whether there is a task.
    fn broken(&self, hook_error: HookError) -> Outcome<J::Output> {
        if self.shared.lock().has_task(&self.key, self.id) {
            Outcome::NotAsked(hook_error)
        } else {
            Outcome::NotSubmitted(hook_error)
        }
    }
}

impl<J: Job> Drop for Ending<J> {
    fn drop(&mut self) {
        let outcome = self.outcome.take();
        let outcome = outcome.unwrap_or_else(|| self.broken(shut_down()));
        if let Some(hook_error) = outcome.failure()
            && self.listen.0.receiver_count() == 0
        {
            // Nobody is left to tell.
            let because = hook_error.source().map(chain);
            tracing::warn!(job = self.key, because, "{}", hook_error.message());
        }
        let now = Instant::now();
        let (end, settings) = (outcome.end(), &self.settings);
        self.shared
            .lock()
            .ended(&self.key, self.id, end, now, settings);
        self.listen.0.send_replace(Some(outcome));
    }
}

fn panicked(broken: JoinError) -> HookError {
    match broken.try_into_panic() {
        Ok(panic) => {
            tracing::error!("a job panicked: {}", panic_text(panic.as_ref()));
            HookError::fail("the driver panicked at it, see its log")
        }
        Err(_) => shut_down(),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}
