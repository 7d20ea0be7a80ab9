//! The result of a reconciliation.

use crate::api::reasons::{self, ReportReason};
use crate::cluster::WriteError;
use std::time::Duration;

/// The delay after which an object is reconciled again whose state in the index was outdated. Usually a watch
/// event enqueues it sooner.
const STALE_DELAY: Duration = Duration::from_millis(200);

/// The next step after a reconciliation that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// One step is done; there may be another one.
    RequeueNow,
    RequeueAfter(Duration),
    /// Nothing is left to do until a watch event enqueues the object.
    AwaitChange,
}

impl Action {
    /// The same, or sooner.
    pub(crate) fn at_most(self, longest: Duration) -> Self {
        match self.delay() {
            Some(delay) if delay <= longest => self,
            _ => Self::RequeueAfter(longest),
        }
    }

    pub(crate) const fn delay(self) -> Option<Duration> {
        match self {
            Self::RequeueNow => Some(Duration::ZERO),
            Self::RequeueAfter(delay) => Some(delay),
            Self::AwaitChange => None,
        }
    }
}

/// Why a reconciliation failed. It is repeated with exponential backoff unless
/// [`Error::retry_delay`] or [`Error::action`] differs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Operation(#[from] OperationFailure),
    /// An operation failed, and the status says when it is repeated by the backoff.
    #[error("{0}")]
    BackingOff(OperationFailure, Duration),
    #[error("{0} is not, or not yet, the backend that the record was created for")]
    BackendChanged(String),
    #[error("the name of a BackendRecord that has to be created is taken; see the object's events")]
    NameTaken,
    #[error("the reconciliation panicked or was aborted")]
    Aborted,
}

impl Error {
    /// The delay that the driver asked for or the status announces, which is kept exactly.
    pub(crate) const fn retry_delay(&self) -> Option<Duration> {
        match self {
            Self::Operation(failure) => failure.retry_delay,
            Self::BackingOff(_, delay) => Some(*delay),
            _ => None,
        }
    }

    /// True if the driver asked for the delay.
    pub(crate) const fn has_delay_of_driver(&self) -> bool {
        matches!(self, Self::Operation(failure) if failure.retry_delay.is_some())
    }

    /// True if repeating is useless until the object is changed, which ends the backoff.
    pub(crate) fn needs_change(&self) -> bool {
        matches!(self, Self::Operation(failure) if failure.needs_change())
    }

    /// True if the object changed since it was read.
    pub(crate) const fn is_conflict(&self) -> bool {
        matches!(self, Self::Write(WriteError::Stale))
    }

    /// The action instead of a retry, for errors that do not count as failures: the object
    /// changed since it was read, its namespace is being deleted and with it the object, a dry run got
    /// to its first write, or the process ends because it lost its lease.
    pub(crate) const fn action(&self) -> Option<Action> {
        match self {
            Self::Write(WriteError::Stale) => Some(Action::RequeueAfter(STALE_DELAY)),
            Self::Write(
                WriteError::DryRun | WriteError::NamespaceTerminating | WriteError::NotLeading(_),
            ) => Some(Action::AwaitChange),
            _ => None,
        }
    }
}

/// A webhook whose call failed, or that responded with `Fail`.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct OperationFailure {
    pub reason: &'static ReportReason,
    pub message: String,
    pub retry_delay: Option<Duration>,
    /// True if no driver got the call, so that it had no effect.
    pub is_unreceived: bool,
}

impl OperationFailure {
    /// True if the driver will not accept the object's values.
    pub(crate) fn needs_change(&self) -> bool {
        self.reason == reasons::INVALID_ARGUMENT
    }

    /// True if the driver responded, with `Fail`.
    pub(crate) fn is_fail(&self) -> bool {
        let without_response = [
            reasons::INVALID_RESPONSE,
            reasons::WEBHOOK_ERROR,
            reasons::WEBHOOK_NOT_SERVED,
        ];
        !without_response.contains(&self.reason)
    }

    /// The driver cannot be called.
    pub(crate) const fn unreceived(message: String) -> Self {
        Self {
            reason: reasons::WEBHOOK_ERROR,
            message,
            retry_delay: None,
            is_unreceived: true,
        }
    }

    /// The driver's response lacks a required value, or has one that cannot be stored.
    pub(crate) const fn invalid_response(message: String) -> Self {
        Self {
            reason: reasons::INVALID_RESPONSE,
            message,
            retry_delay: None,
            is_unreceived: false,
        }
    }
}
