//! Where a report goes: `--output FORMAT=PATH`.

use super::Format;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A format and a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The format.
    pub format: Format,
    /// The file; nothing for standard output.
    pub path: Option<PathBuf>,
}

/// An `--output` that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongOutput {
    /// No such format.
    #[error(
        "no format {0:?}: allowed are human, json, junit, tap, markdown, github and yaml, each alone \
         for standard output or as FORMAT=PATH"
    )]
    Format(String),
    /// Nothing behind the `=`.
    #[error("{0}= names no file: allowed are {0}=PATH, and {0} or {0}=- for standard output")]
    NoPath(Format),
}

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the {format} report to {place}: {source}")]
pub struct CannotWrite {
    /// Which format.
    pub format: Format,
    /// Where to.
    pub place: String,
    /// Why not.
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

/// The file that GitHub shows with a workflow's run, if there is one; for [`Output::write`].
#[must_use]
pub fn step_summary() -> Option<PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from)
}

impl Output {
    /// Writes the text there.
    ///
    /// A file has the old text or the new one, never half of it. Devices, pipes and whatever is
    /// open already, such as `/dev/stdout`, are written to as they are; so is a `markdown` file
    /// that is `step_summary`, at its end, since other steps' commands write there too. That
    /// nobody reads standard output any more is no error. Folders are not made.
    ///
    /// # Errors
    /// Names the format and the file.
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
        let written = match place(path) {
            Ok(Place::File(file)) if !at_end => replace(&file, text),
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

/// What a path leads to.
enum Place {
    /// A file, or nothing yet, at this path, which is no link.
    File(PathBuf),
    /// Something that can only be written into.
    Stream,
}

fn place(path: &Path) -> io::Result<Place> {
    let found = match fs::symlink_metadata(path) {
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            return Ok(Place::File(path.to_owned()));
        }
        found => found?,
    };
    if found.is_file() {
        return Ok(Place::File(path.to_owned()));
    }
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if found.is_symlink() && !path.starts_with("/dev") && !path.starts_with("/proc") {
        // The link stays, what it leads to is replaced.
        let target = fs::canonicalize(path)?;
        if fs::metadata(&target)?.is_file() {
            return Ok(Place::File(target));
        }
    }
    Ok(Place::Stream)
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Puts a new file in the old one's place.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "that names no file"))?;
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
        // The error that counts is the first one.
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
