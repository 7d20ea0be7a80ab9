//! A Deployment's strategy and its ReplicaSets, by which rollouts are decided.

use std::sync::Arc;

use crate::controllers::status::{Rounding, scaled_value};
use crate::object::{Object, at, meta, number, text};
use crate::store::Stored;

/// The number of a Deployment's revision.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The numbers that a revision had before rollbacks.
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";

/// A Deployment's `replicas` and `strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RolloutStrategy {
    pub(super) replicas: i64,
    pub(super) max_surge: i64,
    pub(super) max_unavailable: i64,
    /// Old pods end before new ones are created.
    pub(super) recreate: bool,
}

impl RolloutStrategy {
    pub(super) fn of(deployment: &Object) -> Self {
        let replicas = number(deployment, &["spec", "replicas"], 1).max(0);
        let recreate = text(deployment, &["spec", "strategy", "type"]) == Some("Recreate");
        let value = |key, rounding| {
            let value = at(deployment, &["spec", "strategy", "rollingUpdate", key]);
            scaled_value(value.filter(|_| !recreate), replicas, rounding)
        };
        let max_surge = value("maxSurge", Rounding::Up);
        let mut max_unavailable = value("maxUnavailable", Rounding::Down);
        if !recreate && max_surge == 0 && max_unavailable == 0 {
            // Otherwise no pod could ever be replaced.
            max_unavailable = 1;
        }
        Self {
            replicas,
            max_surge,
            max_unavailable: max_unavailable.min(replicas),
            recreate,
        }
    }

    /// The largest number of pods that may exist.
    pub(super) fn max_total(&self) -> i64 {
        self.replicas.saturating_add(self.max_surge)
    }

    /// The number of pods that must be available.
    pub(super) fn min_available(&self) -> i64 {
        self.replicas - self.max_unavailable
    }
}

/// A ReplicaSet of a Deployment.
#[derive(Clone, Debug)]
pub(super) struct ReplicaSet {
    pub(super) stored: Arc<Stored>,
    pub(super) replicas: i64,
    /// From `status.replicas`; `replicas` is from `spec.replicas`.
    pub(super) actual: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
    pub(super) terminating: i64,
    pub(super) revision: i64,
}

impl ReplicaSet {
    pub(super) fn of(stored: &Arc<Stored>) -> Self {
        let set = &stored.object;
        let status = |key| number(set, &["status", key], 0);
        let revision = text(set, &["metadata", "annotations", REVISION]);
        Self {
            replicas: number(set, &["spec", "replicas"], 1),
            actual: status("replicas"),
            ready: status("readyReplicas"),
            available: status("availableReplicas"),
            terminating: status("terminatingReplicas"),
            revision: revision.and_then(|r| r.parse().ok()).unwrap_or(0),
            stored: Arc::clone(stored),
        }
    }

    /// The key by which ReplicaSets are sorted by age, oldest first.
    pub(super) fn age(&self) -> (String, String) {
        let created = meta(&self.stored.object, "creationTimestamp").unwrap_or_default();
        (created.to_owned(), self.stored.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::{Value, json};

    #[test]
    fn surge_and_unavailable_are_never_both_zero() {
        let read = |replicas: i64, surge: Value, unavailable: Value| {
            let strategy = json!({"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
            let spec = json!({"replicas": replicas, "strategy": strategy});
            let strategy = RolloutStrategy::of(&object(json!({"spec": spec})));
            (strategy.max_total(), strategy.min_available())
        };
        assert_eq!(read(10, json!("25%"), json!("25%")), (13, 8));
        assert_eq!(read(1, json!("25%"), json!("25%")), (2, 1));
        assert_eq!(read(3, json!(0), json!("25%")), (3, 2));
        assert_eq!(read(3, json!(0), json!(9)), (3, 0));
        assert_eq!(read(0, json!(0), json!(0)), (0, 0));
    }
}
