//! Locks a data directory, and detects a replaced database file.

use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use lbcf_serving::private_file;

use crate::store::OpenError;

/// The lock on a directory, until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Lock(fs::File);

impl Lock {
    pub(super) fn take(directory: &Path) -> Result<Self, OpenError> {
        let file = private_file::options().open(directory.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process inherits the open file until it executes its program; without an explicit
        // unlock the lock would last that long.
        let _ = self.0.unlock();
    }
}

/// A file that must not be replaced.
#[derive(Debug)]
pub(super) struct WatchedFile {
    path: PathBuf,
    identity: FileIdentity,
}

impl WatchedFile {
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        let identity = identity(&path)?;
        Ok(Self { path, identity })
    }

    /// Fails if the file is deleted or replaced.
    pub(super) fn check(&self) -> Result<(), String> {
        match identity(&self.path) {
            Ok(found) if found == self.identity => Ok(()),
            Ok(_) => Err(format!("{} was replaced", self.path.display())),
            Err(error) => Err(format!("{}: {error}", self.path.display())),
        }
    }
}

#[cfg(unix)]
type FileIdentity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
type FileIdentity = ();

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<FileIdentity> {
    fs::metadata(path).map(|_| ())
}
