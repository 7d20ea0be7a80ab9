//! Locks a data directory, and detects a replaced database file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lbcf_serving::file_lock::FileLock;
use lbcf_serving::private_file;

use crate::store::OpenError;

/// Locks a directory against other clusters.
pub(super) fn lock(directory: &Path) -> Result<FileLock, OpenError> {
    let file = private_file::options().open(directory.join("lock"))?;
    FileLock::take(file)?.ok_or(OpenError::InUse)
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
