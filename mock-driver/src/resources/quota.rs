//! Quotas, as providers have them: of resources, and of calls.

use super::error::QuotaExceeded;
use std::time::Duration;

pub(super) const LOAD_BALANCERS: &str = "max-load-balancers";
pub(super) const BACKENDS: &str = "max-backends";
pub(super) const CALLS: &str = "max-calls-per-second";

/// The limits of a cloud; nothing is limited by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quotas {
    /// The number of instances, those from the start included.
    pub load_balancers: Option<usize>,
    /// The number of targets of one listener or rule.
    pub backends: Option<usize>,
    /// The number of calls of the cloud's API in a second of its clock; with the profile `azure` of those that
    /// write.
    pub calls_per_second: Option<u32>,
    /// The number of targets of one call.
    pub targets_per_call: Option<usize>,
}

/// A quota and its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuotaUse {
    /// That of the flag.
    pub(crate) name: &'static str,
    /// Of backends, those of the endpoint that has most; of calls, those in the current second.
    pub(crate) used: usize,
    pub(crate) limit: Option<usize>,
}

/// The calls in one second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallRate {
    second: u64,
    calls: u32,
}

impl CallRate {
    /// The calls in the current second.
    pub(super) const fn calls(self, now: Duration) -> u32 {
        if self.second == now.as_secs() {
            self.calls
        } else {
            0
        }
    }

    /// Counts a call.
    ///
    /// # Errors
    /// The limit, if there were as many as there may be in this second.
    pub(super) fn count(&mut self, limit: Option<u32>, now: Duration) -> Result<(), u32> {
        let calls = self.calls(now);
        if let Some(limit) = limit.filter(|limit| calls >= *limit) {
            return Err(limit);
        }
        *self = Self {
            second: now.as_secs(),
            calls: calls.saturating_add(1),
        };
        Ok(())
    }
}

/// Fails if there can be no more than are used.
pub(super) const fn check(
    name: &'static str,
    limit: Option<usize>,
    used: usize,
) -> Result<(), QuotaExceeded> {
    match limit {
        Some(limit) if used >= limit => Err(QuotaExceeded { name, limit }),
        _ => Ok(()),
    }
}
