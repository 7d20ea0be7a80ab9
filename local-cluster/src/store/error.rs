//! Errors of the store.

use std::io;
use std::path::PathBuf;

/// The disk refused a write; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the data directory {} cannot be written to: {why}", directory.display())]
pub(crate) struct DiskError {
    pub(crate) directory: PathBuf,
    pub(crate) why: String,
}

/// An object exceeds what the storage of a real cluster accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InsertError {
    Exists,
    NamespaceMissing,
    NamespaceTerminating,
    TooLarge,
    Disk(DiskError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// The object was written or removed since it was read.
    Stale,
    TooLarge,
    Disk(DiskError),
}

impl From<TooLarge> for InsertError {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

impl From<TooLarge> for WriteError {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
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

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("another process uses the directory")]
    InUse,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    #[error("{0}")]
    Format(String),
}
