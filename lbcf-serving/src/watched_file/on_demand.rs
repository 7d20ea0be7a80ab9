use super::{FileError, WatchedFiles};
use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// The time that a caller waits for a file system that hangs, once for each check.
const CHECK_WAIT: Duration = Duration::from_secs(1);

/// A value made from files that are read again when the value is needed and the last check is some
/// time ago. It needs no task in the background, so it can be made outside of a runtime.
#[derive(Debug)]
pub struct RereadFiles<T, E = FileError> {
    files: Arc<std::sync::Mutex<WatchedFiles<T, E>>>,
    interval: Duration,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    value: T,
    checked_at: Instant,
    /// The check that is running; there is one at most, however long it takes.
    check: Option<JoinHandle<Result<Option<T>, String>>>,
}

impl<T, E> RereadFiles<T, E>
where
    T: Clone + Send + 'static,
    E: From<FileError> + fmt::Display + Send + 'static,
{
    /// Reads the files for the first time; `value` is what `parse` made of them. This blocks.
    ///
    /// # Errors
    /// A [`FileError`], or the error of `parse`.
    pub fn new(mut files: WatchedFiles<T, E>, interval: Duration) -> Result<Self, E> {
        let contents = files.settled()?;
        let value = (files.parse)(&contents)?;
        files.seen = Some(contents);
        Ok(Self {
            files: Arc::new(std::sync::Mutex::new(files)),
            interval,
            state: Mutex::new(State {
                value,
                checked_at: Instant::now(),
                check: None,
            }),
        })
    }

    /// The value by the last good contents. Waits for 1 s at most when a check is due; dropping the
    /// future does not lose the check.
    pub async fn current(&self) -> T {
        let mut state = self.state.lock().await;
        let mut wait = Duration::ZERO;
        if state.check.is_none() && state.checked_at.elapsed() >= self.interval {
            let files = Arc::clone(&self.files);
            let check = move || lock(&files).check();
            state.check = Some(tokio::task::spawn_blocking(check));
            wait = CHECK_WAIT;
        }
        if let Some(check) = &mut state.check
            && let Ok(ended) = timeout(wait, check).await
        {
            state.check = None;
            state.checked_at = Instant::now();
            if let Ok(checked) = ended
                && let Some(value) = lock(&self.files).log(checked)
            {
                state.value = value;
            }
        }
        state.value.clone()
    }
}

fn lock<F>(files: &std::sync::Mutex<F>) -> MutexGuard<'_, F> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}
