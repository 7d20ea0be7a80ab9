//! The trait that describes one kind of job.

use crate::HookError;
use std::future::Future;
use std::time::Duration;

/// One kind of job: the ways to submit, poll, find and cancel it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job",
    note = "implement `lbcf_driver_sdk::jobs::Job` for it, or make one from a closure with `InProcess::new`"
)]
pub trait Job: Send + Sync + 'static {
    /// The parameters. Calls with another request under the same key are another job.
    type Request: PartialEq + Send + Sync + 'static;
    /// Identifies the task once it was accepted.
    type Task: Send + Sync + 'static;
    /// The result of a successful task, such as the `lbInfo` of a created load balancer.
    type Output: Clone + Send + Sync + 'static;

    /// Starts the task and returns its identifier. Pass the key to the cloud as client token, so
    /// that it recognises a repeated submit.
    ///
    /// It is only called again if it or the task failed.
    fn submit(
        &self,
        key: &str,
        request: &Self::Request,
    ) -> impl Future<Output = Result<Self::Task, HookError>> + Send;

    /// Returns the task's state. `Err` means that it is not known: the call gets the error, and the
    /// next one polls again. A failed task is [`JobState::Failed`].
    fn poll(
        &self,
        task: &Self::Task,
    ) -> impl Future<Output = Result<JobState<Self::Output>, HookError>> + Send;

    /// Searches for a task that was submitted with this key before a restart, or by a submit whose
    /// response was lost. Before a submit it is called with the request: return only a task with
    /// these parameters, or the change would be lost. Before the
    /// [cancellation](super::Jobs::cancel) of an unknown job it is called without a request: return
    /// any task.
    ///
    /// Return a task that runs or succeeded, not one that failed. The default finds none.
    fn find(
        &self,
        _key: &str,
        _request: Option<&Self::Request>,
    ) -> impl Future<Output = Result<Option<Self::Task>, HookError>> + Send {
        async { Ok(None) }
    }

    /// Cancels the task if that is possible, and returns its state: [`Running`] until it has ended,
    /// [`Done`] if it succeeded all the same, [`Failed`] if it created nothing. The default waits for
    /// the task's end.
    ///
    /// [`Running`]: JobState::Running
    /// [`Done`]: JobState::Done
    /// [`Failed`]: JobState::Failed
    fn cancel(
        &self,
        task: &Self::Task,
    ) -> impl Future<Output = Result<JobState<Self::Output>, HookError>> + Send {
        self.poll(task)
    }
}

/// The state of a task.
#[derive(Debug, Clone)]
pub enum JobState<O> {
    /// The task has not ended.
    Running {
        /// The message for the user.
        message: String,
        /// The least time until the next call; `None` leaves it to the controller.
        delay: Option<Duration>,
    },
    /// The task succeeded with this result.
    Done(O),
    /// The task failed. The next call submits again.
    Failed(HookError),
}

impl<O> JobState<O> {
    /// [`Running`](Self::Running) with a message for the user.
    pub fn running(message: impl Into<String>) -> Self {
        Self::Running {
            message: message.into(),
            delay: None,
        }
    }

    /// [`Failed`](Self::Failed) with a message for the user.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(HookError::fail(message))
    }

    /// Sets the least time until the next call; without effect on [`Done`](Self::Done).
    #[must_use]
    pub fn retry_after(self, delay: Duration) -> Self {
        match self {
            Self::Running { message, .. } => Self::Running {
                message,
                delay: Some(delay),
            },
            Self::Failed(hook_error) => Self::Failed(hook_error.retry_after(delay)),
            Self::Done(output) => Self::Done(output),
        }
    }
}
