//! A Deployment's strategy, its ReplicaSets and their next sizes.
//!
//! Each function returns the ReplicaSets to resize, by index; the new one, if it exists, is the last.

use std::sync::Arc;

use crate::controllers::status::{Rounding, scaled_value};
use crate::object::{Object, at, meta, number, text};
use crate::store::Stored;

/// The number of a Deployment's revision.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";

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

/// The index of a ReplicaSet, and its new size.
pub(super) type Resize = (usize, i64);

/// Scales a paused Deployment by its newest active ReplicaSet alone; pods of other revisions stay.
pub(super) fn scale_paused(strategy: RolloutStrategy, sets: &[ReplicaSet]) -> Vec<Resize> {
    let active = sets.iter().rposition(|set| set.replicas > 0);
    let Some(newest) = active.or(sets.len().checked_sub(1)) else {
        return Vec::new();
    };
    let mut sizes: Vec<i64> = sets.iter().map(|set| set.replicas).collect();
    sizes[newest] = 0;
    sizes[newest] = (strategy.replicas - sizes.iter().sum::<i64>()).max(0);
    changed(sets, &sizes)
}

/// The size that the new ReplicaSet, now of size `new`, may have.
pub(super) fn size_of_new(strategy: RolloutStrategy, sets: &[ReplicaSet], new: i64) -> i64 {
    if strategy.recreate {
        return strategy.replicas;
    }
    let current: i64 = sets.iter().map(|set| set.replicas).sum();
    let allowed = strategy.max_total() - current;
    if allowed <= 0 {
        return new;
    }
    new + allowed.min(strategy.replicas - new)
}

/// The next step of a rolling update.
pub(super) fn rolling_update(strategy: RolloutStrategy, sets: &[ReplicaSet]) -> Vec<Resize> {
    let Some((new, old)) = sets.split_last() else {
        return Vec::new();
    };
    let size = match new.replicas {
        size if size > strategy.replicas => strategy.replicas,
        size if size < strategy.replicas => size_of_new(strategy, sets, size),
        size => size,
    };
    if size != new.replicas {
        return vec![(old.len(), size)];
    }
    scale_down_old(strategy, new, old)
}

fn scale_down_old(strategy: RolloutStrategy, new: &ReplicaSet, old: &[ReplicaSet]) -> Vec<Resize> {
    let mut sizes: Vec<i64> = old.iter().map(|set| set.replicas).collect();
    let mut spare = sizes.iter().sum::<i64>() + new.available - strategy.min_available();
    let shrink = |size: &mut i64, by: i64, spare: &mut i64| {
        let by = by.min(*spare).max(0);
        *size -= by;
        *spare -= by;
    };
    // Pods that are not available are deleted first.
    for (set, size) in old.iter().zip(&mut sizes) {
        shrink(size, set.replicas - set.available, &mut spare);
    }
    let available: i64 = old.iter().map(|set| set.available).sum::<i64>() + new.available;
    spare = spare.min(available - strategy.min_available());
    for size in &mut sizes {
        let all = *size;
        shrink(size, all, &mut spare);
    }
    changed(old, &sizes)
}

/// Scales all ReplicaSets down to 0.
pub(super) fn to_zero(old: &[ReplicaSet]) -> Vec<Resize> {
    changed(old, &vec![0; old.len()])
}

fn changed(sets: &[ReplicaSet], sizes: &[i64]) -> Vec<Resize> {
    let both = sets.iter().zip(sizes).enumerate();
    both.filter(|(_, (set, size))| set.replicas != **size)
        .map(|(index, (_, size))| (index, *size))
        .collect()
}

#[cfg(test)]
mod tests;
