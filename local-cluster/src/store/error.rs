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

/// Why a write was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    Exists,
    NamespaceMissing,
    NamespaceTerminating,
    /// The object was written or removed since it was read.
    Stale,
    /// The object exceeds what the storage of a real cluster accepts.
    TooLarge,
    Disk(DiskError),
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
    Format(String),
}
