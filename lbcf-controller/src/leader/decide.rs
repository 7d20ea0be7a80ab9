//! The election's rules: what to do next about the Lease, without I/O and with the time as an
//! argument.
//!
//! The time is the process's own, which only runs forward; the times that stand in the Lease are
//! compared with nothing.

use super::config::LeaderElection;
use k8s_openapi::api::coordination::v1::LeaseSpec;
use std::time::Duration;
use tokio::time::Instant;

/// The Lease as it was last read or written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    /// It has to be read: it was not yet, or a write did not tell how it ended.
    Unknown,
    /// There is none.
    Absent,
    /// This stands in it.
    Present(LeaseSpec),
}

/// What is known of the election.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct View {
    pub(super) seen: Seen,
    /// When the Lease was last asked for.
    pub(super) read_at: Instant,
    /// When the Lease was first seen as it is.
    pub(super) changed_at: Instant,
    /// When the write was sent that made this the leader or kept it so; none for a follower.
    pub(super) renewed_at: Option<Instant>,
    /// After a failure, when it is tried again.
    pub(super) retry_at: Option<Instant>,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Read the Lease.
    Read,
    /// Take the Lease, or make it.
    Acquire,
    /// Say in the Lease that its holder lives.
    Renew,
    /// Nothing, until then.
    Wait(Instant),
    /// Lead no more: the Lease is another's, or could be soon.
    StepDown,
}

pub(super) fn decide(view: &View, config: &LeaderElection, now: Instant) -> Next {
    match view.renewed_at {
        Some(renewed_at) => decide_as_leader(view, renewed_at, config, now),
        None => decide_as_follower(view, config, now),
    }
}

fn decide_as_leader(
    view: &View,
    renewed_at: Instant,
    config: &LeaderElection,
    now: Instant,
) -> Next {
    let deadline = renewed_at + config.renew_deadline;
    if now >= deadline {
        return Next::StepDown;
    }
    if let Seen::Present(lease) = &view.seen
        && Holder::of(lease, config) == Holder::Other
    {
        return Next::StepDown;
    }
    if let Some(retry_at) = view.retry_at.filter(|retry_at| now < *retry_at) {
        return Next::Wait(retry_at.min(deadline));
    }
    let renew_at = renewed_at + config.retry_period;
    match &view.seen {
        Seen::Unknown => Next::Read,
        // Somebody deleted or emptied it. The promise to the others stands, so it is made good.
        Seen::Absent => Next::Acquire,
        Seen::Present(lease) if Holder::of(lease, config) == Holder::Nobody => Next::Acquire,
        Seen::Present(_) if now >= renew_at => Next::Renew,
        Seen::Present(_) => Next::Wait(renew_at),
    }
}

fn decide_as_follower(view: &View, config: &LeaderElection, now: Instant) -> Next {
    if let Some(retry_at) = view.retry_at.filter(|retry_at| now < *retry_at) {
        return Next::Wait(retry_at);
    }
    let lease = match &view.seen {
        Seen::Unknown => return Next::Read,
        Seen::Absent => return Next::Acquire,
        Seen::Present(lease) => lease,
    };
    match Holder::of(lease, config) {
        Holder::Nobody => Next::Acquire,
        // Our own write, of which no answer was heard.
        Holder::Own => Next::Renew,
        Holder::Other => {
            let expires = view.changed_at + promised(lease, config);
            let look_at = expires.min(view.read_at + config.retry_period);
            if view.read_at >= expires {
                Next::Acquire
            } else if now >= look_at {
                Next::Read
            } else {
                Next::Wait(look_at)
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Nobody,
    Own,
    Other,
}

impl Holder {
    fn of(lease: &LeaseSpec, config: &LeaderElection) -> Self {
        match lease.holder_identity.as_deref().unwrap_or_default() {
            "" => Self::Nobody,
            holder if holder == config.identity => Self::Own,
            _ => Self::Other,
        }
    }
}

/// How long the holder may go without a sign of life: it knows that best.
fn promised(lease: &LeaseSpec, config: &LeaderElection) -> Duration {
    lease
        .lease_duration_seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0)
        .map_or(config.lease_duration, Duration::from_secs)
}

#[cfg(test)]
mod tests;
