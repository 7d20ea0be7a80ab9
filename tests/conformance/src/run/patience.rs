//! Detects what is hopeless, because waiting for it again in each of a hundred checks would take an
//! hour: webhooks of which no operation ever ended, or no call ever got a response; and a driver that
//! accepts calls and responds to none.

use crate::exchange::{Exchange, NoResponse, RequestKind};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The number of timeouts after which a webhook that never responded is silent. More than one, as the
/// first call of a driver may be slow.
const SILENT_AFTER: usize = 2;
/// The time that a call of a silent webhook gets.
const SILENT_TIMEOUT: Duration = Duration::from_secs(1);
/// By how much the budget of operations shrinks once those of another webhook never ended.
const LESS: u32 = 9;
/// The time for a run that creates nothing.
pub(super) const HOPELESS: Duration = Duration::from_secs(45);
/// The time that it has at least for what needs no load balancer.
pub(super) const REST: Duration = Duration::from_secs(5);
/// The number of checks in a row without a response that stop the run.
pub(super) const TOO_MANY: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Patience {
    webhooks: BTreeMap<&'static str, Seen>,
    /// The calls without a response since the last one. `healthz` does not count: a driver must
    /// respond to more than that.
    silent_calls: usize,
    /// The checks with a timeout since the last response to any check.
    silent_checks: BTreeSet<&'static str>,
}

/// The history of a webhook.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    /// Operations that ended, whatever the result.
    ended: usize,
    /// Operations that used up their budget.
    given_up: usize,
    responses: usize,
    timeouts: usize,
}

impl Seen {
    const fn never_ends(self) -> bool {
        self.given_up > 0 && self.ended == 0
    }
}

impl Patience {
    /// Notes the outcome of a call, and returns the number of checks in a row without a response.
    pub(super) fn note(&mut self, exchange: &Exchange) -> usize {
        if exchange.kind != RequestKind::Invalid
            && let Some(webhook) = exchange.webhook
        {
            let seen = self.webhooks.entry(webhook).or_default();
            match &exchange.outcome {
                Ok(_) => seen.responses += 1,
                Err(NoResponse::TimedOut(_)) => seen.timeouts += 1,
                // All others cost no time.
                Err(_) => {}
            }
            if webhook != "healthz" {
                self.note_silence(exchange);
            }
        }
        self.silent_checks.len()
    }

    fn note_silence(&mut self, exchange: &Exchange) {
        match &exchange.outcome {
            Ok(_) => {
                self.silent_calls = 0;
                self.silent_checks.clear();
            }
            // The driver had no time to respond.
            Err(NoResponse::HungUp) => {}
            Err(problem) => {
                self.silent_calls += 1;
                // All others cost no time, and each check verifies something else.
                if matches!(problem, NoResponse::TimedOut(_)) {
                    self.silent_checks.extend(exchange.check);
                }
            }
        }
    }

    /// The number of calls in a row without a response.
    pub(crate) const fn silent_calls(&self) -> usize {
        self.silent_calls
    }

    /// Notes that an operation ended.
    pub(crate) fn ended(&mut self, webhook: &'static str) {
        self.webhooks.entry(webhook).or_default().ended += 1;
    }

    /// Notes that an operation used up its budget.
    pub(crate) fn gave_up(&mut self, webhook: &'static str) {
        self.webhooks.entry(webhook).or_default().given_up += 1;
    }

    /// True if an operation of this webhook used up its budget, and none ever ended.
    pub(crate) fn never_ends(&self, webhook: &str) -> bool {
        self.of(webhook).never_ends()
    }

    /// True if this webhook got calls and never responded.
    pub(crate) fn is_silent(&self, webhook: &str) -> bool {
        let seen = self.of(webhook);
        seen.timeouts >= SILENT_AFTER && seen.responses == 0
    }

    /// The time for an operation whose budget is this.
    pub(super) fn budget(&self, budget: Duration) -> Duration {
        if self.webhooks.values().any(|seen| seen.never_ends()) {
            budget / LESS
        } else {
            budget
        }
    }

    /// The time for a call whose timeout is this.
    pub(super) fn timeout(&self, webhook: &str, timeout: Duration) -> Duration {
        if self.is_silent(webhook) {
            timeout.min(SILENT_TIMEOUT)
        } else {
            timeout
        }
    }

    fn of(&self, webhook: &str) -> Seen {
        self.webhooks.get(webhook).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
