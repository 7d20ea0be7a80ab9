//! What a call of an operation came to, as the controller sees it.

use crate::context::Context;
use crate::drivers::DriverError;
use crate::work::Progress;
use lbcf_driver_sdk::webhook::{OperationResponse, Status};
use std::time::Duration;

/// The four ends of a call.
#[derive(Debug)]
pub(crate) enum Outcome<R> {
    /// Done.
    Succ(R),
    /// The driver says that it failed.
    Fail {
        message: String,
        delay: Option<Duration>,
    },
    /// The driver is still at it.
    Running {
        message: String,
        delay: Option<Duration>,
    },
    /// There was no answer, or none that can be read.
    Error(DriverError),
}

impl<R: OperationResponse> From<Result<R, DriverError>> for Outcome<R> {
    fn from(result: Result<R, DriverError>) -> Self {
        match result {
            Ok(response) => {
                let message = response.message().to_owned();
                let delay = response.min_retry_delay();
                match response.status() {
                    Status::Succ => Self::Succ(response),
                    Status::Fail => Self::Fail { message, delay },
                    Status::Running => Self::Running { message, delay },
                }
            }
            Err(error) => Self::Error(error),
        }
    }
}

/// When a driver that is still at it is asked again: a driver's own delay is kept exactly (d22).
pub(crate) fn poll(context: &Context, delay: Option<Duration>) -> Progress {
    Progress::After(delay.unwrap_or(context.options.poll_interval))
}

/// A fresh `retryID` (b102).
pub(crate) fn retry_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The message of an error with all that caused it.
pub(crate) fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Errors that quote their source already need no repetition.
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
