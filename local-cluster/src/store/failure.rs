//! Why the store did not do what it was asked for.

use std::io;
use std::path::PathBuf;

/// The disk did not take a write; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the data directory {} cannot be written to: {why}", directory.display())]
pub(crate) struct DiskError {
    pub(crate) directory: PathBuf,
    pub(crate) why: String,
}

/// Why an object could not be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InsertError {
    Exists,
    NamespaceMissing,
    NamespaceTerminating,
    Disk(DiskError),
}

/// Why an object could not be replaced or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// Somebody wrote the object since it was read; or removed it.
    Stale,
    Disk(DiskError),
}

impl From<DiskError> for InsertError {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}

impl From<DiskError> for WriteError {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("another process uses it")]
    InUse,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    #[error("{0}")]
    Format(String),
}
