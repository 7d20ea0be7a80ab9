//! The sizes of a Deployment's ReplicaSets.
//!
//! Each function returns the ReplicaSets to resize, by index; the new one, if it exists, is the last.

use super::replica_set::{ReplicaSet, RolloutStrategy};

/// The index of a ReplicaSet, and its new size.
pub(super) type Resize = (usize, i64);

/// Scales a paused Deployment by its newest active ReplicaSet alone; pods of other revisions stay.
pub(super) fn scale_paused(strategy: RolloutStrategy, sets: &[ReplicaSet]) -> Vec<Resize> {
    let active = sets.iter().rposition(|set| set.replicas > 0);
    let Some(newest) = active.or(sets.len().checked_sub(1)) else {
        return Vec::new();
    };
    let mut sizes: Vec<i64> = sets.iter().map(|set| set.replicas).collect();
    let others: i64 = sizes.iter().sum::<i64>() - size(sets, newest);
    if let Some(size) = sizes.get_mut(newest) {
        *size = (strategy.replicas - others).max(0);
    }
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
    let all: i64 = sizes.iter().sum::<i64>() + new.replicas;
    let spare = all - strategy.min_available() - (new.replicas - new.available);
    let mut order: Vec<usize> = (0..old.len()).collect();
    order.sort_by_key(|index| old.get(*index).map(ReplicaSet::age));
    // Pods that are not available are deleted first.
    let mut left = spare;
    let shrink = |index: usize, by: i64, sizes: &mut Vec<i64>| {
        let by = by.max(0);
        if let Some(size) = sizes.get_mut(index) {
            *size -= by;
        }
        by
    };
    let mut removed = 0;
    for index in &order {
        if let Some(set) = old.get(*index) {
            let by = shrink(*index, left.min(set.replicas - set.available), &mut sizes);
            left -= by;
            removed += by;
        }
    }
    let available: i64 = old.iter().map(|set| set.available).sum::<i64>() + new.available;
    let mut left = (available - strategy.min_available()).min(spare - removed);
    for index in &order {
        let size = sizes.get(*index).copied().unwrap_or(0);
        left -= shrink(*index, left.min(size), &mut sizes);
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

fn size(sets: &[ReplicaSet], index: usize) -> i64 {
    sets.get(index).map_or(0, |set| set.replicas)
}

#[cfg(test)]
mod tests;
