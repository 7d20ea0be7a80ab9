//! What a driver says of its long work: how it is begun, asked for, found and ended.

use crate::HookError;
use std::future::Future;
use std::time::Duration;

/// How one kind of long work is begun, asked for, found and ended.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no job",
    note = "implement `lbcf_driver_sdk::jobs::Job` for it, or make one of a closure by `InProcess::new`"
)]
pub trait Job: Send + Sync + 'static {
    /// What is wanted. Calls with another request under the same key are another job.
    type Request: PartialEq + Send + Sync + 'static;
    /// What the task is known by once it was accepted.
    type Task: Send + Sync + 'static;
    /// What comes of it.
    type Output: Clone + Send + Sync + 'static;

    /// Begins the work and gives what it is known by from now on. The key is what to hand to the
    /// cloud as client token, so that a repeated submit is recognised.
    ///
    /// It is not called again unless it fails, or the task did.
    fn submit(
        &self,
        key: &str,
        request: &Self::Request,
    ) -> impl Future<Output = Result<Self::Task, HookError>> + Send;

    /// Asks how the task stands. `Err` means that this is not known: the call is answered with
    /// it, and the task is asked for again. That the task failed is [`JobState::Failed`].
    fn poll(
        &self,
        task: &Self::Task,
    ) -> impl Future<Output = Result<JobState<Self::Output>, HookError>> + Send;

    /// Looks for a task that was submitted with this key, before the driver was restarted or in a
    /// submit whose answer was lost. Asked before every submit, with the request: a task that does
    /// something else is none, or the change would be swallowed. Asked without one before
    /// [ending](super::Jobs::cancel) what is not known here: then any task will do.
    ///
    /// Give one that runs or that succeeded; one that failed would fail for ever. By default there
    /// is none.
    fn find(
        &self,
        _key: &str,
        _request: Option<&Self::Request>,
    ) -> impl Future<Output = Result<Option<Self::Task>, HookError>> + Send {
        async { Ok(None) }
    }

    /// Ends the task if that is possible, and tells how it stands then: [`Running`] as long as it
    /// is not over, [`Done`] if it came to its end nevertheless, [`Failed`] if nothing came of it.
    /// By default it cannot be ended, and is waited for.
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

/// How a task stands.
#[derive(Debug, Clone)]
pub enum JobState<O> {
    /// At work.
    Running {
        /// What the user reads meanwhile.
        message: String,
        /// When to ask again, at the earliest.
        delay: Option<Duration>,
    },
    /// Over: this came of it.
    Done(O),
    /// Over: nothing came of it. The next call submits anew.
    Failed(HookError),
}

impl<O> JobState<O> {
    /// At work. The message is for the user.
    pub fn running(message: impl Into<String>) -> Self {
        Self::Running {
            message: message.into(),
            delay: None,
        }
    }

    /// Over, and nothing came of it. The message is for the user.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(HookError::fail(message))
    }

    /// Asks the controller to wait at least this long; for a task that is done it means nothing.
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
