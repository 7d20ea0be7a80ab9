//! The findings of the last audit of each load balancer. They are kept in memory only: after a restart a
//! backend must be found twice again before it is removed.

use crate::api::ObjectKey;
use crate::index::RequestKey;
use crate::process::metrics::Metrics;
use lbcf_driver_sdk::webhook::ListedBackend;
use std::collections::{BTreeMap, BTreeSet};

/// The backends of one load balancer that no record accounts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Findings {
    pub driver: ObjectKey,
    /// By address, with their recordIDs.
    pub orphans: BTreeMap<String, String>,
}

impl Findings {
    pub(super) fn contains(&self, backend: &ListedBackend) -> bool {
        self.orphans.get(&backend.backend_addr) == Some(&backend.record_id)
    }
}

/// The findings of all load balancers, and their sums as metrics.
#[derive(Debug)]
pub(super) struct AllFindings {
    by_load_balancer: BTreeMap<RequestKey, Findings>,
    metrics: Metrics,
}

impl AllFindings {
    pub(super) const fn new(metrics: Metrics) -> Self {
        Self {
            by_load_balancer: BTreeMap::new(),
            metrics,
        }
    }

    pub(super) fn of(&self, key: &RequestKey) -> Option<&Findings> {
        self.by_load_balancer.get(key)
    }

    pub(super) fn set(&mut self, key: RequestKey, findings: Findings) {
        let driver = findings.driver.clone();
        let old = self.by_load_balancer.insert(key, findings);
        self.publish(old.map(|old| old.driver).into_iter().chain([driver]));
    }

    pub(super) fn remove(&mut self, key: &RequestKey) {
        let removed = self.by_load_balancer.remove(key);
        self.publish(removed.map(|findings| findings.driver));
    }

    /// Removes the findings of load balancers that are not audited any more.
    pub(super) fn retain(&mut self, audited: &BTreeSet<RequestKey>) {
        let mut drivers = Vec::new();
        self.by_load_balancer.retain(|key, findings| {
            let stays = audited.contains(key);
            if !stays {
                drivers.push(findings.driver.clone());
            }
            stays
        });
        self.publish(drivers);
    }

    fn publish(&self, drivers: impl IntoIterator<Item = ObjectKey>) {
        for driver in drivers {
            let of_driver = self.by_load_balancer.values();
            let of_driver = of_driver.filter(|findings| findings.driver == driver);
            let mut counts = of_driver.map(|findings| findings.orphans.len()).peekable();
            let is_audited = counts.peek().is_some();
            self.metrics
                .orphaned(&driver, is_audited.then(|| counts.sum()));
        }
    }
}
