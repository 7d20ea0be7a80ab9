//! Detects a driver that accepts calls and does not respond: each costs a timeout, and a hundred
//! checks without a result would take an hour.

use crate::exchange::{Exchange, NoResponse, RequestKind};
use std::collections::BTreeSet;

/// The number of checks in a row without a response that stop the run.
pub(super) const TOO_MANY: usize = 5;

/// The missing responses since the last one. `healthz` does not count: a driver must respond to more
/// than that.
#[derive(Debug, Default)]
pub(super) struct Silence {
    calls: usize,
    checks: BTreeSet<&'static str>,
}

impl Silence {
    pub(super) fn note(&mut self, exchange: &Exchange) {
        if exchange.kind == RequestKind::Invalid
            || matches!(exchange.webhook, None | Some("healthz"))
        {
            return;
        }
        match &exchange.outcome {
            Ok(_) => *self = Self::default(),
            // The driver had no time to respond.
            Err(NoResponse::HungUp) => {}
            Err(problem) => {
                self.calls += 1;
                // All others cost no time, and each check verifies something else.
                if matches!(problem, NoResponse::TimedOut(_)) {
                    self.checks.extend(exchange.check);
                }
            }
        }
    }

    /// The number of calls in a row without a response.
    pub(super) const fn calls(&self) -> usize {
        self.calls
    }

    /// The number of checks with a timeout since the last response to any check.
    pub(super) fn checks(&self) -> usize {
        self.checks.len()
    }
}

#[cfg(test)]
mod tests;
