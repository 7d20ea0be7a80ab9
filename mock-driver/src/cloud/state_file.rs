//! The file that a cloud is kept in. It is replaced as a whole before a change is visible to any caller,
//! so a process that dies leaves one of the two states.

use crate::resources::CloudState;
use crate::strict;
use lbcf_serving::private_file;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The limit of a document, in bytes.
const LONGEST: u64 = 256 << 20;

/// A state file, and what it has.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
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
    /// A file that the state is saved to, also if that is what it has already.
    pub(super) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            saved: None,
            problem: None,
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
            .and_then(|document| replace(&self.path, &document));
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

/// Writes another file, and then gives it the name of this one.
fn replace(path: &Path, document: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = private_file::options().open(&new)?;
    file.write_all(document)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    // The name is in the folder, which has to be on the disk, too.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
