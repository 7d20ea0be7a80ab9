//! Contains faults of a driver's code: panics are caught, and hooks that run for long are logged.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A hook that still runs after this time is logged, and again whenever the time has doubled.
const LONG_RUNNING: Duration = Duration::from_secs(60);

/// The payload of a panic.
pub(super) struct Panic(Box<dyn Any + Send>);

impl Panic {
    /// The message, which may have several lines.
    pub(super) fn text(&self) -> &str {
        panic_text(self.0.as_ref())
    }
}

pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.text()).finish()
    }
}

pub(super) fn contain_call<T>(call: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(call)).map_err(Panic)
}

/// Polls a hook; `None` if it panics, which is logged in the current span.
pub(super) fn poll_contained<F>(hook: &mut F, context: &mut Context<'_>) -> Poll<Option<F::Output>>
where
    F: Future + Unpin,
{
    match catch_unwind(AssertUnwindSafe(|| Pin::new(hook).poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Err(panic) => {
            let panic = Panic(panic);
            tracing::error!(panic = panic.text(), "the hook panicked");
            Poll::Ready(None)
        }
    }
}

/// Runs a hook to its end; `None` if it panics. Panics and long runs are logged in the current
/// span.
pub(super) async fn run_hook<F>(started: Instant, mut hook: F) -> Option<F::Output>
where
    F: Future + Unpin,
{
    let mut contained = pin!(poll_fn(|context| poll_contained(&mut hook, context)));
    let mut wait = LONG_RUNNING;
    loop {
        match timeout(wait, contained.as_mut()).await {
            Ok(output) => return output,
            Err(_) => {
                let running_for = started.elapsed();
                tracing::warn!(
                    seconds = running_for.as_secs(),
                    "the hook still runs; operations on the same record or serial key wait for it"
                );
                wait = running_for.max(LONG_RUNNING);
            }
        }
    }
}

#[cfg(test)]
mod tests;
