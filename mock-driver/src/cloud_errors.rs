//! What the cloud's errors mean for the controller.
//!
//! A rejection is for the user to resolve, and its message explains how. An outage needs no user: the
//! driver fails with the delay that the cloud asked for. It does not retry on its own, because the
//! controller retries and reports it to the user (RTRY-05, RTRY-06).

use crate::cloud::{CloudError, NotFound, Unavailable};
use lbcf_driver_sdk::HookError;
use std::error::Error;

impl From<Unavailable> for HookError {
    fn from(unavailable: Unavailable) -> Self {
        Self::fail(format!("{unavailable}, the controller retries"))
            .retry_after(unavailable.retry_after)
    }
}

impl<E: Error + Send + Sync + 'static> From<CloudError<E>> for HookError {
    fn from(error: CloudError<E>) -> Self {
        match error {
            CloudError::Unavailable(unavailable) => unavailable.into(),
            CloudError::Rejected(why) => why.into(),
        }
    }
}

/// The result of a removal. What does not exist is removed already; during an outage that is not
/// known, and success would leave it behind.
pub(crate) fn ignore_not_found<T>(
    removal: Result<T, CloudError<NotFound>>,
) -> Result<(), HookError> {
    match removal {
        Ok(_) | Err(CloudError::Rejected(_)) => Ok(()),
        Err(CloudError::Unavailable(unavailable)) => Err(unavailable.into()),
    }
}
