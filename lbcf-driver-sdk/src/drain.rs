//! Draining: what to do about a backend that is deregistered while clients use it.

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

/// The longest wait until the connections are counted again.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The shortest: the wire has whole seconds.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// The next step of `deregister_backend` for a backend that gets no new connections any more.
///
/// ```
/// use lbcf_driver_sdk::HookError;
/// use lbcf_driver_sdk::drain::Drain;
/// use std::time::{Duration, SystemTime};
///
/// /// How long clients may take.
/// const LIMIT: Duration = Duration::from_secs(60);
///
/// /// `Ok` when the backend may be removed.
/// fn drained(since: Option<SystemTime>, open: u64) -> Result<(), HookError> {
///     match Drain::decide(since, SystemTime::now(), LIMIT, open) {
///         Drain::Wait(delay) => {
///             Err(HookError::running(format!("{open} connections are open")).retry_after(delay))
///         }
///         // Removing the backend breaks off what is still open.
///         Drain::Done | Drain::Expired => Ok(()),
///     }
/// }
/// # assert!(drained(Some(SystemTime::now()), 7).is_err_and(|error| error.is_running()));
/// # assert!(drained(Some(SystemTime::now()), 0).is_ok());
/// # assert!(drained(None, 7).is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drain {
    /// Clients are connected and have time left: return `Running` with this delay.
    Wait(Duration),
    /// No client is connected: remove the backend.
    Done,
    /// The time is over: remove the backend, although clients are connected.
    Expired,
}

impl Drain {
    /// Decides by the number of open connections and by how long the backend drains. Pure, so that a
    /// driver needs no memory: `since` is
    /// [`first_requested_at`](crate::request::DeregisterBackend::first_requested_at).
    ///
    /// Without `since`, from a controller that does not send it, clients get no time: the drain would
    /// never end. A `since` in the future, from a clock that is ahead, counts as now.
    #[must_use]
    pub fn decide(
        since: Option<SystemTime>,
        now: SystemTime,
        limit: Duration,
        open_connections: u64,
    ) -> Self {
        if open_connections == 0 {
            return Self::Done;
        }
        let lasted = since.map_or(limit, |since| now.duration_since(since).unwrap_or_default());
        match limit.saturating_sub(lasted) {
            Duration::ZERO => Self::Expired,
            left => Self::Wait(left.clamp(SHORTEST_WAIT, LONGEST_WAIT)),
        }
    }
}
