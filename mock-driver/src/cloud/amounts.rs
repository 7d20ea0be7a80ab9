//! How much of everything the cloud has, and how much of its quotas is used, for metrics.

use super::Cloud;
use super::endpoint::ListenerProtocol;
use super::model::{Forwarding, Model, TargetGroup};
use std::time::Duration;

/// How much of everything the cloud has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    /// Load balancers that are complete.
    pub(crate) created: usize,
    /// Those that are being created.
    pub(crate) creating: usize,
    /// Listeners, in the order of [`ListenerProtocol::ALL`].
    pub(crate) listeners: [usize; ListenerProtocol::ALL.len()],
    /// Targets with the `recordID` of a driver.
    pub(crate) bound_by_drivers: usize,
    /// Targets without one.
    pub(crate) bound_by_hand: usize,
    pub(crate) quotas: Vec<QuotaUse>,
}

/// How much of a quota is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuotaUse {
    /// That of the flag.
    pub(crate) name: &'static str,
    /// Of backends, those of the endpoint that has most; of calls, those in the current second.
    pub(crate) used: usize,
    pub(crate) limit: Option<usize>,
}

impl Cloud {
    pub(crate) fn amounts(&self) -> Amounts {
        self.read(Amounts::of)
    }
}

impl Amounts {
    fn of(model: &Model, now: Duration) -> Self {
        let mut amounts = Self::default();
        let mut most = 0;
        for load_balancer in model.load_balancers.values() {
            if load_balancer.being_created().is_some() {
                amounts.creating += 1;
            } else {
                amounts.created += 1;
            }
            for listener in load_balancer.listeners.values() {
                amounts.listeners[listener.protocol as usize] += 1;
                let groups: Vec<&TargetGroup> = match &listener.forwarding {
                    Forwarding::Direct(group) => vec![group],
                    Forwarding::ByRule(rules) => rules.values().collect(),
                };
                for group in groups {
                    let targets = group.targets.values();
                    let by_drivers = targets.filter(|it| it.record_id.is_some()).count();
                    amounts.bound_by_drivers += by_drivers;
                    amounts.bound_by_hand += group.targets.len() - by_drivers;
                    most = most.max(group.targets.len());
                }
            }
        }
        amounts.quotas = model.quota_use(most, now);
        amounts
    }
}
