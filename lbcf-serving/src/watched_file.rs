//! Values made from mounted files, made again when the contents change.
//!
//! The files of a mounted Secret are symbolic links that the kubelet switches over, with
//! modification times that mean nothing, so only the contents show a change. Reading them every few
//! seconds works on every file system, which notifications of changes do not.
//!
//! [`WatchedFiles::watch`] checks in the background; [`RereadFiles`] checks when the value is needed.
//! Either keeps the last good value when the files cannot be used, and logs each problem once.

mod on_demand;

pub use on_demand::RereadFiles;

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than any certificate, key or token, in bytes.
const MAX_LENGTH: u64 = 256 << 10;
/// The limit of the first read, on a file system that hangs.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The most reads of changed files until two of them agree.
const SETTLE_TRIES: u32 = 5;

/// Why a file cannot be used. It quotes nothing of the contents, which may be a key.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// The contents are not what they should be.
    #[error("{}: {problem}", path.display())]
    Contents {
        /// The path of the file.
        path: PathBuf,
        /// The mistake, and what is expected.
        problem: String,
    },
}

impl FileError {
    /// Reports a problem with the contents of `path`.
    pub fn contents(path: &Path, problem: impl fmt::Display) -> Self {
        Self::Contents {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

type Parse<T, E> = dyn Fn(&[Vec<u8>]) -> Result<T, E> + Send + Sync;

/// Files, and how to make a `T` from their contents.
pub struct WatchedFiles<T, E = FileError> {
    name: &'static str,
    paths: Vec<PathBuf>,
    max_length: u64,
    parse: Box<Parse<T, E>>,
    /// The contents at the last read, usable or not.
    seen: Option<Vec<Vec<u8>>>,
    /// Why the last read failed, so that it is logged once.
    reported: Option<String>,
}

impl<T, E> WatchedFiles<T, E>
where
    T: Send + 'static,
    E: From<FileError> + fmt::Display + Send + 'static,
{
    /// `name` is what the files are, for the log; `parse` gets the contents in the order of the
    /// paths. Files have 256 KiB at most, unless [`max_length`](Self::max_length) is set.
    pub fn new(
        name: &'static str,
        paths: Vec<PathBuf>,
        parse: impl Fn(&[Vec<u8>]) -> Result<T, E> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            paths,
            max_length: MAX_LENGTH,
            parse: Box::new(parse),
            seen: None,
            reported: None,
        }
    }

    /// The most that a file may have, in bytes.
    #[must_use]
    pub const fn max_length(mut self, bytes: u64) -> Self {
        self.max_length = bytes;
        self
    }

    /// Reads the files. `None` means that they have the same contents as the last time, usable or
    /// not. This blocks.
    ///
    /// # Errors
    /// A [`FileError`], or the error of `parse`.
    pub fn read(&mut self) -> Result<Option<T>, E> {
        let contents = self.settled()?;
        self.parse_changed(contents)
    }

    fn parse_changed(&mut self, contents: Vec<Vec<u8>>) -> Result<Option<T>, E> {
        if self.seen.as_ref() == Some(&contents) {
            return Ok(None);
        }
        let parsed = (self.parse)(&contents);
        self.seen = Some(contents);
        parsed.map(Some)
    }

    /// Reads the files for the first time, for 10 s at most, without blocking.
    ///
    /// # Errors
    /// A [`FileError`], or the error of `parse`.
    pub async fn load(mut self) -> Result<(T, Self), E> {
        let timed_out = FileError::Read {
            path: self.paths.first().cloned().unwrap_or_default(),
            source: io::ErrorKind::TimedOut.into(),
        };
        let reading = tokio::task::spawn_blocking(move || {
            let value = self.read();
            (value, self)
        });
        match tokio::time::timeout(READ_TIMEOUT, reading).await {
            Ok(Ok((Ok(Some(value)), files))) => Ok((value, files)),
            Ok(Ok((Err(error), _))) => Err(error),
            // The first read finds a change, so only a read that hangs is left.
            _ => Err(timed_out.into()),
        }
    }

    /// Reads the files again; `Some` if they changed and can be used. Problems are logged, once each.
    /// This blocks.
    pub fn reread(&mut self) -> Option<T> {
        let checked = self.check();
        self.log(checked)
    }

    /// Reads the files again at this interval, without end, and calls `on_change` with each new
    /// value.
    pub async fn watch(mut self, interval: Duration, mut on_change: impl FnMut(T) + Send) {
        loop {
            tokio::time::sleep(interval).await;
            let reading = tokio::task::spawn_blocking(move || {
                let checked = self.check();
                (checked, self)
            });
            let Ok((checked, files)) = reading.await else {
                return tracing::error!("reading files panicked; this is a defect");
            };
            self = files;
            if let Some(value) = self.log(checked) {
                on_change(value);
            }
        }
    }

    /// The part of [`reread`](Self::reread) on a thread that may block; the error is for the log.
    fn check(&mut self) -> Result<Option<T>, String> {
        let contents = match self.settled() {
            Ok(contents) => contents,
            Err(error) => {
                let error = error.to_string();
                let is_reported = self.reported.as_ref() == Some(&error);
                self.reported = Some(error.clone());
                return if is_reported { Ok(None) } else { Err(error) };
            }
        };
        self.reported = None;
        self.parse_changed(contents)
            .map_err(|error| error.to_string())
    }

    /// Logs with the caller's subscriber, which a thread that may block does not have.
    fn log(&self, checked: Result<Option<T>, String>) -> Option<T> {
        match &checked {
            Ok(Some(_)) => tracing::info!(files = ?self.paths, "the {} has changed", self.name),
            Ok(None) => {}
            Err(error) => tracing::warn!(error, "the {} stays what it was", self.name),
        }
        checked.ok().flatten()
    }

    /// The contents. Read between two writes, a certificate and its key do not belong together, so
    /// new contents count when two reads agree.
    fn settled(&self) -> Result<Vec<Vec<u8>>, FileError> {
        let mut contents = self.read_once()?;
        for _ in 0..SETTLE_TRIES {
            if self.seen.as_ref() == Some(&contents) {
                break;
            }
            let again = self.read_once()?;
            if again == contents {
                break;
            }
            contents = again;
        }
        Ok(contents)
    }

    fn read_once(&self) -> Result<Vec<Vec<u8>>, FileError> {
        let read_one = |path: &PathBuf| {
            read(path, self.max_length).map_err(|source| FileError::Read {
                path: path.clone(),
                source,
            })
        };
        self.paths.iter().map(read_one).collect()
    }
}

impl<T, E> fmt::Debug for WatchedFiles<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedFiles")
            .field("name", &self.name)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

/// Reads a regular file of at most `max_length` bytes. This blocks.
///
/// # Errors
/// The operating system's, `not a file`, or `longer than … bytes`.
pub fn read(path: &Path, max_length: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe may block without end.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    read_any(path, max_length)
}

/// Reads a file, pipe or device of at most `max_length` bytes. This blocks, perhaps without end.
///
/// # Errors
/// The operating system's, or `longer than … bytes`.
pub fn read_any(path: &Path, max_length: u64) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    File::open(path)?
        .take(max_length.saturating_add(1))
        .read_to_end(&mut contents)?;
    if contents.len() as u64 > max_length {
        return Err(io::Error::other(format!("longer than {max_length} bytes")));
    }
    Ok(contents)
}

#[cfg(test)]
mod tests;
