//! What a Deployment says about its rollouts, and what it reads off its ReplicaSets.

use std::sync::Arc;

use serde_json::Value;

use crate::agents::amount::{Round, resolve};
use crate::agents::pods::number;
use crate::object::{Object, at, meta, text};
use crate::store::Stored;

/// Numbers the versions of a Deployment's template.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The numbers that a version had before it came back.
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// How many pods the Deployment wanted when its ReplicaSet was scaled.
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// How many it allowed then.
pub(super) const MAX: &str = "deployment.kubernetes.io/max-replicas";

/// How pods of one version give way to those of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strategy {
    /// How many pods are wanted.
    pub(super) replicas: i64,
    /// How many more there may be meanwhile.
    pub(super) surge: i64,
    /// How many fewer may be available meanwhile.
    pub(super) unavailable: i64,
    /// All old pods go before the first new one comes.
    pub(super) recreate: bool,
}

impl Strategy {
    /// Reads a Deployment.
    pub(super) fn of(deployment: &Object) -> Self {
        let replicas = number(deployment, &["spec", "replicas"], 1).max(0);
        let strategy = |key| at(deployment, &["spec", "strategy", "rollingUpdate", key]);
        if text(deployment, &["spec", "strategy", "type"]) == Some("Recreate") {
            return Self {
                replicas,
                surge: 0,
                unavailable: 0,
                recreate: true,
            };
        }
        let surge = resolve(strategy("maxSurge"), replicas, Round::Up);
        let mut unavailable = resolve(strategy("maxUnavailable"), replicas, Round::Down);
        if surge == 0 && unavailable == 0 {
            // Nothing could ever be exchanged.
            unavailable = 1;
        }
        Self {
            replicas,
            surge,
            unavailable: unavailable.min(replicas),
            recreate: false,
        }
    }

    /// How many pods there may be at most.
    pub(super) fn most(&self) -> i64 {
        self.replicas.saturating_add(self.surge)
    }

    /// How many pods must be available at least.
    pub(super) fn least(&self) -> i64 {
        self.replicas - self.unavailable
    }
}

/// A ReplicaSet as its Deployment sees it.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) stored: Arc<Stored>,
    /// How many pods it is to have.
    pub(super) replicas: i64,
    /// How many it has.
    pub(super) actual: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
    pub(super) terminating: i64,
    pub(super) revision: i64,
    pub(super) desired: Option<i64>,
    pub(super) max: Option<i64>,
}

impl Set {
    /// Reads a ReplicaSet.
    pub(super) fn of(stored: &Arc<Stored>) -> Self {
        let set = &stored.object;
        let status = |key| number(set, &["status", key], 0);
        Self {
            replicas: number(set, &["spec", "replicas"], 1),
            actual: status("replicas"),
            ready: status("readyReplicas"),
            available: status("availableReplicas"),
            terminating: status("terminatingReplicas"),
            revision: annotation(set, REVISION).unwrap_or(0),
            desired: annotation(set, DESIRED),
            max: annotation(set, MAX),
            stored: Arc::clone(stored),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.stored.name
    }

    /// Sorts by age.
    pub(super) fn age(&self) -> (String, String) {
        let created = meta(&self.stored.object, "creationTimestamp").unwrap_or_default();
        (created.to_owned(), self.stored.name.clone())
    }

    /// The template, in which the hash is a label.
    pub(super) fn template(&self) -> Option<&Value> {
        at(&self.stored.object, &["spec", "template"])
    }
}

fn annotation(object: &Object, key: &str) -> Option<i64> {
    text(object, &["metadata", "annotations", key])?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    #[test]
    fn fences_are_never_both_nothing() {
        let read = |replicas: i64, surge: Value, unavailable: Value| {
            let strategy = json!({"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
            let spec = json!({"replicas": replicas, "strategy": strategy});
            let strategy = Strategy::of(&object(json!({"spec": spec})));
            (strategy.most(), strategy.least())
        };
        assert_eq!(read(10, json!("25%"), json!("25%")), (13, 8));
        assert_eq!(read(1, json!("25%"), json!("25%")), (2, 1));
        assert_eq!(read(3, json!(0), json!("25%")), (3, 2));
        assert_eq!(read(3, json!(0), json!(9)), (3, 0));
        assert_eq!(read(0, json!(0), json!(0)), (0, 0));
    }
}
