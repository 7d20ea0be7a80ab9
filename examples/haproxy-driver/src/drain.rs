//! Decides how the deregistration of a server goes on. Pure: the clock and the sessions are arguments.

use std::time::{Duration, SystemTime};

/// What to do with a server that takes no new sessions any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrainStep {
    /// No session is left.
    Remove,
    /// Sessions may go on for so long.
    Wait(Duration),
    /// The time is over: what is open is shut down.
    ShutDown,
}

/// The next step.
#[must_use]
pub const fn next_step(sessions: u64, drained_for: Duration, limit: Duration) -> DrainStep {
    let remaining = limit.saturating_sub(drained_for);
    if sessions == 0 {
        DrainStep::Remove
    } else if remaining.is_zero() {
        DrainStep::ShutDown
    } else {
        DrainStep::Wait(remaining)
    }
}

/// How long a server has drained: since the controller asked for it, or, if it does not tell, since HAProxy
/// stopped sending sessions there. Either outlives a restart of the driver.
#[must_use]
pub fn drained_for(
    first_requested_at: Option<SystemTime>,
    now: SystemTime,
    in_haproxy: Duration,
) -> Duration {
    // A clock that was set back must not make the time negative, nor longer than it was.
    first_requested_at.map_or(in_haproxy, |since| {
        now.duration_since(since).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests;
