//! What a driver's code may do wrong stays its own: panics are caught, and a hook that does not
//! come to an end is at least heard of.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// After this time a hook that still runs is worth a line in the log, then after twice of it, and
/// so on.
const LONG: Duration = Duration::from_secs(60);

/// What a panic said.
pub(super) struct Panic(Box<dyn Any + Send>);

impl Panic {
    /// Its text, for the log: it may have line breaks.
    pub(super) fn text(&self) -> &str {
        self.0
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| self.0.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(no text)")
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.text()).finish()
    }
}

/// Calls the driver's code.
pub(super) fn contain_call<T>(call: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(call)).map_err(Panic)
}

/// Polls a hook. Nothing comes of one that panics; then the panic is logged, in the current span.
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

/// Runs a hook to its end. Nothing when it panics; then the panic is logged, in the current span.
/// So is that it takes long.
pub(super) async fn run_hook<F>(begun: Instant, mut hook: F) -> Option<F::Output>
where
    F: Future + Unpin,
{
    let mut contained = pin!(poll_fn(|context| poll_contained(&mut hook, context)));
    let mut wait = LONG;
    loop {
        // A hook that is done at once needs no timer, and this makes none for it.
        match timeout(wait, contained.as_mut()).await {
            Ok(output) => return output,
            Err(_) => {
                let running_for = begun.elapsed();
                tracing::warn!(
                    seconds = running_for.as_secs(),
                    "the hook still runs; what shares its turn waits for it"
                );
                wait = running_for.max(LONG);
            }
        }
    }
}

#[cfg(test)]
mod tests;
