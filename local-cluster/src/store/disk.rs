//! The store on disk: a log to which every write is appended before it is visible.
//!
//! An acknowledged write survives the end of the process, even by `kill -9`, because it is in the operating
//! system's hands when it is appended. It is not synced to the medium at once, so a power loss or a kernel crash
//! can lose the latest writes, at most [`log::SYNC_AFTER`]. Opening advances the revision by more than that, so
//! that a revision that was lost is not used again.
//!
//! Events are not stored: a watch or list at a revision from before a restart has expired.

mod lock;
mod log;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lbcf_serving::file_lock::FileLock;
use lbcf_serving::private_file;

use self::lock::{WatchedFile, lock};
pub(crate) use self::log::Unreadable;
use self::log::{Contents, FILE, Log};
use super::{DiskError, OpenError, Resource, Stored};

/// The database of earlier versions, which this one cannot read.
const OLD_FILE: &str = "cluster.db";

/// A data directory, locked against other processes.
#[derive(Debug)]
pub(super) struct Disk {
    directory: PathBuf,
    open: Option<Open>,
    /// The parts of the initial objects that were created.
    pub(super) seeded: BTreeSet<String>,
}

/// The lock is dropped after the log.
#[derive(Debug)]
struct Open {
    log: Log,
    file: WatchedFile,
    _lock: FileLock,
}

impl Disk {
    /// Opens or creates a directory and reads its contents. Revisions start after `first`.
    pub(super) fn open(directory: &Path, first: u64) -> Result<(Self, Contents), OpenError> {
        // Its objects include Secrets.
        private_file::create_folder(directory)?;
        let lock = lock(directory)?;
        let (path, old) = (directory.join(FILE), directory.join(OLD_FILE));
        if old.exists() && !path.exists() {
            return Err(OpenError::Format(format!(
                "{} was stored by an earlier version, and this version cannot read it: use the version that stored it, or another directory",
                old.display()
            )));
        }
        let contents = Contents::read(&path, first)?;
        let log = Log::compact(directory, &contents)?;
        let disk = Self {
            directory: directory.to_owned(),
            open: Some(Open {
                log,
                file: WatchedFile::at(path)?,
                _lock: lock,
            }),
            seeded: contents.seeded.clone(),
        };
        Ok((disk, contents))
    }

    /// Inserts or replaces an object.
    pub(super) fn put(&mut self, resource: &Resource, stored: &Stored) -> Result<(), DiskError> {
        self.append(&log::put(resource, stored))
    }

    pub(super) fn remove(
        &mut self,
        resource: &Resource,
        stored: &Stored,
        revision: u64,
    ) -> Result<(), DiskError> {
        self.append(&log::remove(resource, stored, revision))
    }

    pub(super) fn set_seeded(&mut self, part: &str) -> Result<(), DiskError> {
        self.append(&log::seeded(part))?;
        self.seeded.insert(part.to_owned());
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }

    fn append(&mut self, line: &[u8]) -> Result<(), DiskError> {
        let directory = &self.directory;
        let failed = |why: String| DiskError {
            directory: directory.clone(),
            why,
        };
        let Some(open) = &mut self.open else {
            return Err(failed("the cluster has ended".to_owned()));
        };
        // Writes to a deleted file succeed, but are lost.
        open.file.check().map_err(failed)?;
        let appended = open.log.append(line);
        appended.map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
pub(super) mod tests;
