//! What the two ways in which the cloud does not do as it is told mean for the controller.
//!
//! The cloud refuses: that is the user's to change, and the message says what. The cloud cannot be
//! reached: nobody has to do anything, so the driver names the time after which to try again, as
//! the cloud said it. It does not try again itself: the controller does, with the user watching
//! (RTRY-05, RTRY-06).

use crate::cloud::{CloudError, NotFound, Unavailable};
use lbcf_driver_sdk::HookError;
use std::error::Error;

impl From<Unavailable> for HookError {
    fn from(unavailable: Unavailable) -> Self {
        Self::fail(format!("{unavailable}, it is tried again")).retry_after(unavailable.retry_after)
    }
}

impl<E: Error + Send + Sync + 'static> From<CloudError<E>> for HookError {
    fn from(error: CloudError<E>) -> Self {
        match error {
            CloudError::Unavailable(unavailable) => unavailable.into(),
            CloudError::Refused(why) => why.into(),
        }
    }
}

/// The result of taking something away. What does not exist is gone already; of what cannot be
/// looked for nobody knows, and to call that gone would leave it behind.
pub(super) fn gone<T>(taken_away: Result<T, CloudError<NotFound>>) -> Result<(), Unavailable> {
    match taken_away {
        Ok(_) | Err(CloudError::Refused(_)) => Ok(()),
        Err(CloudError::Unavailable(unavailable)) => Err(unavailable),
    }
}
