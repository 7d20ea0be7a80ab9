//! What is made from files, made again when they change.
//!
//! Files of a mounted Secret are links that are switched over, with times that say nothing, so
//! that only their contents tell whether they changed. They are looked at when they are needed and
//! the last look is some time ago; there is no task in the background. A look that fails changes
//! nothing but the log: half a rotation must not end calls.

use super::HttpClientError;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long a call waits for a file system that hangs, once for each look.
const PATIENCE: Duration = Duration::from_secs(1);

/// A thing that is made from the contents of files.
pub(super) trait FromFiles: Send + Sync + 'static {
    /// The thing.
    type Made: Clone + Send + 'static;
    /// The most that a file may have, in bytes.
    const MAX_LENGTH: u64;

    /// The files.
    fn paths(&self) -> Vec<PathBuf>;
    /// Makes it from what is in them, in the same order.
    fn make(&self, contents: &[Vec<u8>]) -> Result<Self::Made, HttpClientError>;
}

/// A thing with the files that it was made from.
pub(super) struct Reread<S: FromFiles> {
    source: Arc<S>,
    interval: Duration,
    state: Mutex<State<S::Made>>,
}

struct State<M> {
    made: M,
    /// What it was made from.
    contents: Arc<Vec<Vec<u8>>>,
    looked_at: Instant,
    /// A look that is not over. There is one at most, however long it takes.
    looking: Option<JoinHandle<Look<M>>>,
    /// What was told last, so that it is told once.
    told: Option<String>,
}

/// Another thing and what it was made from, if something changed.
type Look<M> = Result<Option<(Vec<Vec<u8>>, M)>, HttpClientError>;

impl<S: FromFiles> Reread<S> {
    /// Reads the files for the first time. This blocks.
    pub(super) fn new(source: S, interval: Duration) -> Result<Self, HttpClientError> {
        let contents = read_all(&source)?;
        Ok(Self {
            state: Mutex::new(State {
                made: source.make(&contents)?,
                contents: Arc::new(contents),
                looked_at: Instant::now(),
                looking: None,
                told: None,
            }),
            source: Arc::new(source),
            interval,
        })
    }

    /// The thing as it is now. Dropping the future loses nothing.
    pub(super) async fn current(&self) -> S::Made {
        let mut state = self.state.lock().await;
        let mut patience = Duration::ZERO;
        if state.looking.is_none() && state.looked_at.elapsed() >= self.interval {
            let source = Arc::clone(&self.source);
            let known = Arc::clone(&state.contents);
            let look = move || look(source.as_ref(), &known);
            state.looking = Some(tokio::task::spawn_blocking(look));
            patience = PATIENCE;
        }
        if let Some(looking) = &mut state.looking
            && let Ok(ended) = timeout(patience, looking).await
        {
            state.looking = None;
            state.looked_at = Instant::now();
            match ended {
                Ok(look) => state.take(look),
                Err(broken) => state.tell(&broken.to_string()),
            }
        }
        state.made.clone()
    }
}

impl<M> State<M> {
    fn take(&mut self, look: Look<M>) {
        match look {
            Ok(None) => self.told = None,
            Ok(Some((contents, made))) => {
                self.contents = Arc::new(contents);
                self.made = made;
                self.told = None;
                tracing::info!("files for calling drivers have changed and are used");
            }
            Err(error) => self.tell(&error.to_string()),
        }
    }

    fn tell(&mut self, error: &str) {
        if self.told.as_deref() != Some(error) {
            tracing::warn!(
                error,
                "files for calling drivers cannot be used; what was read before stays in use"
            );
            self.told = Some(error.to_owned());
        }
    }
}

fn look<S: FromFiles>(source: &S, known: &[Vec<u8>]) -> Look<S::Made> {
    let contents = read_all(source)?;
    if contents == known {
        return Ok(None);
    }
    let made = source.make(&contents)?;
    Ok(Some((contents, made)))
}

fn read_all<S: FromFiles>(source: &S) -> Result<Vec<Vec<u8>>, HttpClientError> {
    let read = |path: PathBuf| {
        read(&path, S::MAX_LENGTH).map_err(|error| HttpClientError::file(&path, error))
    };
    source.paths().into_iter().map(read).collect()
}

fn read(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    // Opening what is no file may wait for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a file"));
    }
    let mut contents = Vec::new();
    File::open(path)?
        .take(limit.saturating_add(1))
        .read_to_end(&mut contents)?;
    if contents.len() as u64 > limit {
        let message = format!("longer than {limit} bytes");
        return Err(std::io::Error::other(message));
    }
    Ok(contents)
}

#[cfg(test)]
mod tests;
