//! The permission of this process to act: to call drivers and to write.
//!
//! Timers do not answer that. A process that continues after a pause, be it a stopped process or a
//! suspended machine, runs whichever task was woken first, and the election may be the last one. So
//! each call and each write asks, whenever it could make progress, when the lease was renewed last.

use super::boot_time::boot_time;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::watch;

/// The lease is not held, or was not renewed in time, so another process may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this process does not lead, or has not renewed its lease in time")]
pub(crate) struct NotLeading;

/// Permits this process to act until the renew deadline after the last renewal. Without leader
/// election it always does. Clones refer to the same lease.
#[derive(Debug, Clone)]
pub(crate) struct LeaseGuard(Option<Arc<GuardedLease>>);

#[derive(Debug)]
struct GuardedLease {
    renew_deadline: Duration,
    term: watch::Sender<Term>,
}

/// Times are those of [`boot_time`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    NotBegun,
    /// The last successful renewal was sent at this time; its response may have come much later.
    Renewed(Duration),
    /// The renew deadline passed, or the lease was given up. A term does not begin again, because
    /// requests that were refused are not repeated: the process has to end.
    Ended,
}

impl Term {
    const fn renewed(self, sent_at: Duration) -> Self {
        match self {
            Self::NotBegun | Self::Renewed(_) => Self::Renewed(sent_at),
            Self::Ended => Self::Ended,
        }
    }

    fn at(self, now: Duration, renew_deadline: Duration) -> Self {
        match self {
            Self::Renewed(sent_at) if now.saturating_sub(sent_at) >= renew_deadline => Self::Ended,
            term => term,
        }
    }
}

impl LeaseGuard {
    /// Permits everything, for a controller without leader election.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Permits nothing until [`LeaseGuard::renewed`].
    pub(crate) fn new(renew_deadline: Duration) -> Self {
        Self(Some(Arc::new(GuardedLease {
            renew_deadline,
            term: watch::Sender::new(Term::NotBegun),
        })))
    }

    /// Runs a call or a write. It is dropped, and what it sent is cancelled, when it could make
    /// progress after the renew deadline, even if its response has arrived.
    pub(crate) async fn run<T>(&self, call: impl Future<Output = T>) -> Result<T, NotLeading> {
        self.run_by(boot_time, call).await
    }

    async fn run_by<T>(
        &self,
        clock: impl Fn() -> Duration,
        call: impl Future<Output = T>,
    ) -> Result<T, NotLeading> {
        let mut call = pin!(call);
        poll_fn(|context| match self.check(&clock) {
            Ok(()) => call.as_mut().poll(context).map(Ok),
            Err(refused) => Poll::Ready(Err(refused)),
        })
        .await
    }

    pub(crate) fn permits(&self) -> bool {
        self.check(boot_time).is_ok()
    }

    fn check(&self, clock: impl Fn() -> Duration) -> Result<(), NotLeading> {
        match self.term_at(clock) {
            None | Some(Term::Renewed(_)) => Ok(()),
            Some(Term::NotBegun | Term::Ended) => Err(NotLeading),
        }
    }

    /// None without leader election.
    fn term_at(&self, clock: impl Fn() -> Duration) -> Option<Term> {
        let lease = self.0.as_ref()?;
        let now = clock();
        lease.change(|term| term.at(now, lease.renew_deadline));
        Some(*lease.term.borrow())
    }

    /// The lease was acquired or renewed by a request that was sent at this time.
    pub(super) fn renewed(&self, sent_at: Duration) {
        if let Some(lease) = &self.0 {
            lease.change(|term| term.renewed(sent_at));
        }
    }

    /// The lease was lost or is about to be released.
    pub(super) fn end(&self) {
        if let Some(lease) = &self.0 {
            lease.change(|_| Term::Ended);
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.term_at(boot_time) == Some(Term::Ended)
    }

    /// Waits until the lease is given up, or something was refused because the renew deadline has
    /// passed. Without either it does not complete when the deadline passes.
    pub(super) async fn ended(&self) {
        let Some(lease) = &self.0 else {
            return std::future::pending().await;
        };
        // The sender exists as long as this.
        let mut term = lease.term.subscribe();
        let _ = term.wait_for(|term| *term == Term::Ended).await;
    }
}

impl GuardedLease {
    fn change(&self, change: impl FnOnce(Term) -> Term) {
        self.term.send_if_modified(|term| {
            let changed = change(*term);
            std::mem::replace(term, changed) != changed
        });
    }
}

#[cfg(test)]
mod tests;
