//! The destination of a report: `--output FORMAT=PATH`.

use super::Format;
use std::fmt;
use std::fs::{self, File, OpenOptions};
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

/// Why a value of `--output` is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongOutput {
    /// The format is none of the supported ones.
    #[error(
        "unknown format {0:?}: allowed are human, json, junit, tap, markdown, github and yaml, each alone \
         for standard output or as FORMAT=PATH"
    )]
    Format(String),
    /// No path after the `=`.
    #[error("{0}= has no path: allowed are {0}=PATH, and {0} or {0}=- for standard output")]
    NoPath(Format),
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
        let Some((format, path)) = text.split_once('=') else {
            return Ok(Self {
                format: text.parse()?,
                path: None,
            });
        };
        let format = format.parse()?;
        match path {
            "" => Err(WrongOutput::NoPath(format)),
            "-" => Ok(Self { format, path: None }),
            path => Ok(Self {
                format,
                path: Some(PathBuf::from(path)),
            }),
        }
    }
}

/// `$GITHUB_STEP_SUMMARY`: the file that GitHub shows with a workflow's run; for [`Output::write`].
#[must_use]
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
        let Some(path) = &self.path else {
            let mut stdout = io::stdout().lock();
            let written = stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush());
            return match written {
                Err(problem) if problem.kind() != ErrorKind::BrokenPipe => {
                    Err(self.failed("standard output".to_owned(), problem))
                }
                _ => Ok(()),
            };
        };
        let at_end = self.format == Format::Markdown && step_summary == Some(path.as_path());
        let written = match target(path) {
            Ok(Target::File(file)) if !at_end => replace(&file, text),
            Ok(_) => append(path, text),
            Err(problem) => Err(problem),
        };
        written.map_err(|problem| self.failed(path.display().to_string(), problem))
    }

    fn failed(&self, place: String, source: io::Error) -> CannotWrite {
        CannotWrite {
            format: self.format,
            place,
            source,
        }
    }
}

enum Target {
    /// A regular or new file at this path, which is not a link.
    File(PathBuf),
    /// A device or a pipe.
    Stream,
}

fn target(path: &Path) -> io::Result<Target> {
    let found = match fs::symlink_metadata(path) {
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            return Ok(Target::File(path.to_owned()));
        }
        found => found?,
    };
    if found.is_file() {
        return Ok(Target::File(path.to_owned()));
    }
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if found.is_symlink() && !path.starts_with("/dev") && !path.starts_with("/proc") {
        // The link stays, and its target is replaced.
        let target = fs::canonicalize(path)?;
        if fs::metadata(&target)?.is_file() {
            return Ok(Target::File(target));
        }
    }
    Ok(Target::Stream)
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Replaces a file atomically, so that a full disk leaves the old one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "not the path of a file"))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = write_new(&temporary, text).and_then(|()| {
        if let Ok(old) = fs::metadata(path) {
            fs::set_permissions(&temporary, old.permissions())?;
        }
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
