//! The destination of a report: `--output FORMAT=PATH`.

use super::format::{Format, WrongOutput};
use clap::ValueEnum as _;
use lbcf_serving::{replaced_file, streams};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A format and its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The format of the report.
    pub format: Format,
    /// The file; `None` for standard output.
    pub path: Option<PathBuf>,
}

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the {format} report to {place}: {source}")]
pub struct CannotWrite {
    /// The format of the report.
    pub format: Format,
    /// The path, or `standard output`.
    pub place: String,
    /// The error of the system.
    pub source: io::Error,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}={}", self.format, path.display()),
            None => self.format.fmt(f),
        }
    }
}

impl FromStr for Output {
    type Err = WrongOutput;

    /// Reads `FORMAT=PATH`, or `FORMAT` or `FORMAT=-` for standard output.
    fn from_str(text: &str) -> Result<Self, WrongOutput> {
        let (format, path) = text.split_once('=').unwrap_or((text, "-"));
        let known = Format::from_str(format, false);
        let format = known.map_err(|_| WrongOutput::Format(format.to_owned()))?;
        let path = match path {
            "" => return Err(WrongOutput::NoPath(format)),
            "-" => None,
            path => Some(PathBuf::from(path)),
        };
        Ok(Self { format, path })
    }
}

/// `$GITHUB_STEP_SUMMARY`: the file that GitHub shows with a workflow's run; for [`Output::write`].
pub fn step_summary() -> Option<PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from)
}

impl Output {
    /// Writes the text.
    ///
    /// A file is replaced atomically. The text is appended to devices, pipes and open files such as
    /// `/dev/stdout`, and to a `markdown` file that is `step_summary`, because other steps write to it,
    /// too. A closed standard output is not an error. Folders are not created.
    ///
    /// # Errors
    /// [`CannotWrite`] with the format and the file.
    pub fn write(&self, text: &str, step_summary: Option<&Path>) -> Result<(), CannotWrite> {
        let written = match &self.path {
            None => streams::print(text),
            Some(path) => self.write_to(path, text, step_summary),
        };
        written.map_err(|source| CannotWrite {
            format: self.format,
            place: self.place(),
            source,
        })
    }

    fn write_to(&self, path: &Path, text: &str, step_summary: Option<&Path>) -> io::Result<()> {
        let at_end = self.format == Format::Markdown && step_summary == Some(path);
        match file_at(path)? {
            Some(file) if !at_end => replace(&file, text),
            _ => {
                let mut file = OpenOptions::new().append(true).create(true).open(path)?;
                file.write_all(text.as_bytes())
            }
        }
    }

    /// The path, or `standard output`.
    pub(crate) fn place(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "standard output".to_owned(),
        }
    }
}

/// The regular or new file at a path, with links followed; `None` for a device, a pipe or an open file
/// such as `/dev/stdout`.
fn file_at(path: &Path) -> io::Result<Option<PathBuf>> {
    let is_open = path.is_symlink() && (path.starts_with("/dev") || path.starts_with("/proc"));
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() && !is_open => fs::canonicalize(path).map(Some),
        Ok(_) => Ok(None),
        Err(problem) if problem.kind() == ErrorKind::NotFound && !path.is_symlink() => {
            Ok(Some(path.to_owned()))
        }
        Err(problem) => Err(problem),
    }
}

/// Replaces a file atomically, so that a full disk leaves the old one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    replaced_file::replace(path, text.as_bytes(), &options)
}

#[cfg(test)]
mod tests;
