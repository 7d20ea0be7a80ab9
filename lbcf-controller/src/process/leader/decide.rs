//! The rules of the election, without I/O and with the time as an argument.
//!
//! The time is the process's monotonic clock; the times in the Lease are never compared.

use super::config::LeaderElection;
use k8s_openapi::api::coordination::v1::LeaseSpec;
use std::time::Duration;
use tokio::time::Instant;

/// The Lease as it was last read or written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ObservedLease {
    /// Not read yet, or the result of a write is not known.
    Unknown,
    Absent,
    Present(LeaseSpec),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ElectionState {
    pub(super) observed: ObservedLease,
    /// When the last read of the Lease was sent.
    pub(super) read_at: Instant,
    /// When the current content of the Lease was first observed.
    pub(super) changed_at: Instant,
    /// When the last successful acquisition or renewal was sent; `None` for a follower.
    pub(super) renewed_at: Option<Instant>,
    pub(super) retry_at: Option<Instant>,
    /// The Lease went back to an earlier version, as when the cluster's storage is restored from a
    /// backup.
    pub(super) is_restored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElectionAction {
    Read,
    /// Write this process into the Lease, which is created if it does not exist.
    Acquire,
    Renew,
    Wait(Instant),
    /// Stop leading: another process holds the Lease, or soon may; or the index describes a cluster
    /// that was since restored to an earlier state.
    StepDown,
}

pub(super) fn decide(
    state: &ElectionState,
    config: &LeaderElection,
    now: Instant,
) -> ElectionAction {
    match state.renewed_at {
        Some(renewed_at) => decide_as_leader(state, renewed_at, config, now),
        None => decide_as_follower(state, config, now),
    }
}

fn decide_as_leader(
    state: &ElectionState,
    renewed_at: Instant,
    config: &LeaderElection,
    now: Instant,
) -> ElectionAction {
    let deadline = renewed_at + config.renew_deadline;
    if now >= deadline || state.is_restored {
        return ElectionAction::StepDown;
    }
    if let ObservedLease::Present(lease) = &state.observed
        && Holder::of(lease, config) == Holder::Other
    {
        return ElectionAction::StepDown;
    }
    if let Some(retry_at) = state.retry_at.filter(|retry_at| now < *retry_at) {
        return ElectionAction::Wait(retry_at.min(deadline));
    }
    let renew_at = renewed_at + config.retry_period;
    match &state.observed {
        ObservedLease::Unknown => ElectionAction::Read,
        // It was deleted or emptied by hand. No other process may assume that it is free for long.
        ObservedLease::Absent => ElectionAction::Acquire,
        ObservedLease::Present(lease) if Holder::of(lease, config) == Holder::None => {
            ElectionAction::Acquire
        }
        ObservedLease::Present(_) if now >= renew_at => ElectionAction::Renew,
        ObservedLease::Present(_) => ElectionAction::Wait(renew_at),
    }
}

fn decide_as_follower(
    state: &ElectionState,
    config: &LeaderElection,
    now: Instant,
) -> ElectionAction {
    if let Some(retry_at) = state.retry_at.filter(|retry_at| now < *retry_at) {
        return ElectionAction::Wait(retry_at);
    }
    let lease = match &state.observed {
        ObservedLease::Unknown => return ElectionAction::Read,
        ObservedLease::Absent => return ElectionAction::Acquire,
        ObservedLease::Present(lease) => lease,
    };
    match Holder::of(lease, config) {
        Holder::None => ElectionAction::Acquire,
        // The response to this process's write was lost.
        Holder::Own => ElectionAction::Renew,
        Holder::Other => {
            let expires = state.changed_at + lease_duration(lease, config);
            let read_at = expires.min(state.read_at + config.retry_period);
            if state.read_at >= expires {
                ElectionAction::Acquire
            } else if now >= read_at {
                ElectionAction::Read
            } else {
                ElectionAction::Wait(read_at)
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    None,
    Own,
    Other,
}

impl Holder {
    fn of(lease: &LeaseSpec, config: &LeaderElection) -> Self {
        match lease.holder_identity.as_deref().unwrap_or_default() {
            "" => Self::None,
            holder if holder == config.identity => Self::Own,
            _ => Self::Other,
        }
    }
}

/// The duration that the holder wrote into the Lease.
fn lease_duration(lease: &LeaseSpec, config: &LeaderElection) -> Duration {
    lease
        .lease_duration_seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0)
        .map_or(config.lease_duration, Duration::from_secs)
}

#[cfg(test)]
mod tests;
