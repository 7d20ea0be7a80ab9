//! Who has a data directory, and whether it is still there.

use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::OpenError;

/// What keeps other processes out of a directory, until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Lock(fs::File);

impl Lock {
    pub(super) fn take(directory: &Path) -> Result<Self, OpenError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(directory.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that is just being started has the file open too, for a moment, and closing it
        // here alone would leave it locked for that long. What fails here ends with the file.
        let _ = self.0.unlock();
    }
}

/// A file that should stay where it is.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    identity: Identity,
}

impl File {
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        let identity = identity(&path)?;
        Ok(Self { path, identity })
    }

    /// Whether it is there, and no other in its place.
    pub(super) fn check(&self) -> Result<(), String> {
        match identity(&self.path) {
            Ok(found) if found == self.identity => Ok(()),
            Ok(_) => Err(format!("{} was replaced", self.path.display())),
            Err(error) => Err(format!("{}: {error}", self.path.display())),
        }
    }
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|_| ())
}
