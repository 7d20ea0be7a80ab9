//! A lock on a file, which one process at a time holds.

use std::fs::{File, TryLockError};
use std::io;

/// The lock on a file, until it is dropped or the process ends.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Locks a file; returns nothing if another process, or another lock of this one, has locked it.
    ///
    /// # Errors
    /// The operating system's, such as that of a file system without locks.
    pub fn take(file: File) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A child process inherits the open file until it executes its program; without an explicit
        // unlock the lock would last that long.
        let _ = self.0.unlock();
    }
}
