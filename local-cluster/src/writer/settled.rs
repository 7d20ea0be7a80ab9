//! Whether a write is done with.

use crate::status::ApiError;
use crate::store::{DiskError, WriteError};

/// What a write came to; `None` when somebody else was faster, and it is to be decided anew.
pub(super) fn settled<T>(done: Result<T, WriteError>) -> Result<Option<T>, ApiError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(WriteError::Stale) => Ok(None),
        Err(WriteError::Disk(error)) => Err(error.into()),
    }
}

impl From<DiskError> for ApiError {
    fn from(error: DiskError) -> Self {
        Self::internal_because(&error.to_string())
    }
}
