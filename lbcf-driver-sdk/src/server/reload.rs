//! What is made from files, made again when they change.
//!
//! Files of a mounted Secret are links that are switched over, with times that say nothing, so
//! only their contents tell whether they changed. Looking at them every few seconds works on
//! every file system, watching for events does not.

use super::ServerError;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No certificate, key or token is longer, by far.
const MAX_LENGTH: u64 = 256 * 1024;
/// How long reading may take, for file systems that hang.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// How often files are read that are different each time.
const SETTLE_TRIES: u32 = 5;

type Make<T> = dyn Fn(&[Vec<u8>]) -> Result<T, ServerError> + Send + Sync;

/// Something made from the contents of files.
pub(super) struct FromFiles<T> {
    /// What it is, for the log.
    name: &'static str,
    paths: Vec<PathBuf>,
    make: Box<Make<T>>,
    /// What was read last, good or bad.
    seen: Option<Vec<Vec<u8>>>,
    /// Which trouble with reading was told last, so that it is told once.
    told: Option<String>,
}

impl<T> FromFiles<T> {
    /// `make` gets the contents in the order of the paths.
    pub(super) fn new(
        name: &'static str,
        paths: Vec<PathBuf>,
        make: impl Fn(&[Vec<u8>]) -> Result<T, ServerError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            paths,
            make: Box::new(make),
            seen: None,
            told: None,
        }
    }

    /// Makes it for the first time.
    pub(super) async fn load(&mut self) -> Result<T, ServerError> {
        let contents = self.read().await?;
        let made = (self.make)(&contents)?;
        self.seen = Some(contents);
        Ok(made)
    }

    /// Makes it anew if the files have changed and are good. What is bad about them is logged
    /// once for each change.
    pub(super) async fn look_again(&mut self) -> Option<T> {
        let contents = match self.read().await {
            Ok(contents) => contents,
            Err(error) => {
                let error = error.to_string();
                if self.told.as_ref() != Some(&error) {
                    tracing::warn!(error, "the {} stays what it was", self.name);
                }
                self.told = Some(error);
                return None;
            }
        };
        self.told = None;
        if self.seen.as_ref() == Some(&contents) {
            return None;
        }
        let made = (self.make)(&contents);
        self.seen = Some(contents);
        match made {
            Ok(made) => {
                tracing::info!(files = ?self.paths, "the {} has changed", self.name);
                Some(made)
            }
            Err(error) => {
                tracing::warn!(%error, "the {} stays what it was", self.name);
                None
            }
        }
    }

    /// The contents. Files that are being exchanged could be read half old and half new, a
    /// certificate without its key: what is new is believed when it is read twice.
    async fn read(&self) -> Result<Vec<Vec<u8>>, ServerError> {
        let mut contents = self.read_once().await?;
        for _ in 0..SETTLE_TRIES {
            if self.seen.as_ref() == Some(&contents) {
                break;
            }
            let again = self.read_once().await?;
            if again == contents {
                break;
            }
            contents = again;
        }
        Ok(contents)
    }

    async fn read_once(&self) -> Result<Vec<Vec<u8>>, ServerError> {
        let mut contents = Vec::with_capacity(self.paths.len());
        for path in &self.paths {
            contents.push(read(path).await?);
        }
        Ok(contents)
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, ServerError> {
    let owned = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || read_blocking(&owned));
    let read = match tokio::time::timeout(READ_TIMEOUT, reading).await {
        Ok(Ok(read)) => read,
        Ok(Err(broken)) => Err(broken.into()),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    read.map_err(|source| ServerError::Read {
        path: path.to_owned(),
        source,
    })
}

fn read_blocking(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe may wait for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut contents = Vec::new();
    File::open(path)?
        .take(MAX_LENGTH + 1)
        .read_to_end(&mut contents)?;
    if contents.len() as u64 > MAX_LENGTH {
        let message = format!("longer than {MAX_LENGTH} bytes, as no such file is");
        return Err(io::Error::other(message));
    }
    Ok(contents)
}
