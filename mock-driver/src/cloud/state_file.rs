//! The file that a cloud is kept in. It is replaced as a whole before a change is visible to any caller,
//! so a process that dies leaves one of the two states.

use crate::resources::CloudState;
use crate::strict;
use lbcf_serving::file_lock::FileLock;
use lbcf_serving::private_file;
use lbcf_serving::replaced_file::{beside, replace, target};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The limit of a document, in bytes.
const LONGEST: u64 = 256 << 20;

/// A state file, and what it has.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    _lock: FileLock,
    saved: Option<CloudState>,
    /// Why the last change is not in the file.
    problem: Option<String>,
}

/// Reads a document in YAML, of which JSON is a part; none if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<CloudState>, String> {
    let document = strict::read_file(path, LONGEST);
    let state = document.and_then(|it| it.map(strict::read).transpose());
    state.map_err(|problem| format!("{}: {problem}", path.display()))
}

impl StateFile {
    /// A file that the state is saved to, also if that is what it has already. It is this cloud's alone: a file beside
    /// it, whose name ends in `.lock`, is locked, or it itself where nothing can be created beside it.
    pub(super) fn claim(path: &Path) -> Result<Self, String> {
        let at = |problem: String| format!("{}: {problem}", path.display());
        let file = target(path).map_err(|error| at(error.to_string()))?;
        let lock = private_file::options().open(beside(&file, ".lock"));
        let lock = lock.or_else(|error| File::open(&file).map_err(|_| error));
        let lock = lock.and_then(FileLock::take);
        let in_use = "is in use by another mock: stop that one, or choose another file";
        match lock.map_err(|error| at(error.to_string()))? {
            None => Err(at(in_use.to_owned())),
            Some(lock) => Ok(Self {
                path: file,
                _lock: lock,
                saved: None,
                problem: None,
            }),
        }
    }

    /// Saves the state if it has changed.
    pub(super) fn save(&mut self, state: &CloudState) -> Result<(), String> {
        let is_saved = |saved: &CloudState| saved == state && saved.last_ids == state.last_ids;
        if self.saved.as_ref().is_some_and(is_saved) {
            return Ok(());
        }
        let result = serde_json::to_vec_pretty(state)
            .map_err(io::Error::from)
            .and_then(|document| replace(&self.path, &document, &private_file::options()));
        // A file that could not be replaced has an earlier state, or this one.
        self.saved = result.is_ok().then(|| state.clone());
        let result = result.map_err(|error| format!("{}: {error}", self.path.display()));
        if let Err(problem) = &result
            && self.problem.is_none()
        {
            tracing::error!(problem, "the state cannot be saved");
        }
        self.problem = result.as_ref().err().cloned();
        result
    }

    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}
