//! Detects webhooks that are hopeless: no operation of theirs ever ended, or no call of theirs got a
//! response. Waiting for each of them again would take a hundred checks several minutes.

use crate::exchange::{Exchange, NoResponse, RequestKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of timeouts after which a webhook that never responded is silent. More than one, as the
/// first call of a driver may be slow.
const SILENT_AFTER: usize = 2;
/// The time that a call of a silent webhook gets.
const SILENT_TIMEOUT: Duration = Duration::from_secs(1);
/// By how much the budget of operations shrinks once those of another webhook never ended.
const LESS: u32 = 9;

/// What is known of each webhook.
#[derive(Debug, Default)]
pub(super) struct Patience {
    webhooks: BTreeMap<&'static str, Seen>,
}

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

    const fn is_silent(self) -> bool {
        self.timeouts >= SILENT_AFTER && self.responses == 0
    }
}

impl Patience {
    pub(super) fn note(&mut self, exchange: &Exchange) {
        let Some(webhook) = exchange.webhook else {
            return;
        };
        if exchange.kind == RequestKind::Invalid {
            return;
        }
        let seen = self.webhooks.entry(webhook).or_default();
        match &exchange.outcome {
            Ok(_) => seen.responses += 1,
            Err(NoResponse::TimedOut(_)) => seen.timeouts += 1,
            // All others cost no time.
            Err(_) => {}
        }
    }

    pub(super) fn ended(&mut self, webhook: &'static str) {
        self.webhooks.entry(webhook).or_default().ended += 1;
    }

    pub(super) fn gave_up(&mut self, webhook: &'static str) {
        self.webhooks.entry(webhook).or_default().given_up += 1;
    }

    /// Whether an operation of this webhook used up its budget, and none ever ended.
    pub(super) fn never_ends(&self, webhook: &str) -> bool {
        self.of(webhook).never_ends()
    }

    /// Whether this webhook got calls and never responded.
    pub(super) fn is_silent(&self, webhook: &str) -> bool {
        self.of(webhook).is_silent()
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
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(45);

    #[test]
    fn one_that_ended_is_not_hopeless() {
        let mut patience = Patience::default();
        patience.ended("createLoadBalancer");
        patience.gave_up("createLoadBalancer");
        assert!(!patience.never_ends("createLoadBalancer"));
        assert_eq!(patience.budget(BUDGET), BUDGET);

        patience.gave_up("ensureBackend");
        assert!(patience.never_ends("ensureBackend"));
        assert_eq!(patience.budget(BUDGET), Duration::from_secs(5));
        // It was only slow.
        patience.ended("ensureBackend");
        assert!(!patience.never_ends("ensureBackend"));
        assert_eq!(patience.budget(BUDGET), BUDGET);
    }
}
