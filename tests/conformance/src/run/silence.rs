//! How long nothing was heard of a driver that takes calls and does not answer them: each costs a
//! timeout, and a hundred checks that learn nothing would take an hour.

use crate::exchange::{Exchange, Kind, NoAnswer};
use std::collections::BTreeSet;

/// So many checks in a row that hear nothing are too many.
pub(super) const TOO_MANY: usize = 5;

/// What was not heard since the last answer. `healthz` does not count: what answers that, and only
/// that, is no driver.
#[derive(Debug, Default)]
pub(super) struct Silence {
    calls: usize,
    checks: BTreeSet<&'static str>,
}

impl Silence {
    /// Notes what came of a call.
    pub(super) fn note(&mut self, exchange: &Exchange) {
        if exchange.kind == Kind::Improper || matches!(exchange.webhook, None | Some("healthz")) {
            return;
        }
        match &exchange.outcome {
            Ok(_) => *self = Self::default(),
            // It was not given the time to answer.
            Err(NoAnswer::HungUp) => {}
            Err(problem) => {
                self.calls += 1;
                // All others cost no time, and each check finds out something else.
                if matches!(problem, NoAnswer::TimedOut(_)) {
                    self.checks.extend(exchange.check);
                }
            }
        }
    }

    /// How many calls in a row had no answer.
    pub(super) const fn calls(&self) -> usize {
        self.calls
    }

    /// How many checks waited in vain, with no answer to anybody in between.
    pub(super) fn checks(&self) -> usize {
        self.checks.len()
    }
}

#[cfg(test)]
mod tests;
