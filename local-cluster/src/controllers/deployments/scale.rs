//! The sizes of a Deployment's ReplicaSets.
//!
//! Each function returns the ReplicaSets to resize, by index; the new one, if it exists, is the last.

use super::replica_set::{ReplicaSet, RolloutStrategy};

/// The index of a ReplicaSet, and its new size.
pub(super) type Resize = (usize, i64);

/// Whether the Deployment was scaled after its ReplicaSets.
pub(super) fn was_scaled(strategy: RolloutStrategy, sets: &[ReplicaSet]) -> bool {
    sets.iter().filter(|set| set.replicas > 0).any(|set| {
        set.desired
            .is_some_and(|desired| desired != strategy.replicas)
    })
}

/// Scales the ReplicaSets of a paused or rescaled Deployment in proportion.
pub(super) fn proportional(
    strategy: RolloutStrategy,
    sets: &[ReplicaSet],
    has_new: bool,
    total: i64,
) -> Vec<Resize> {
    let active: Vec<usize> = (0..sets.len())
        .filter(|index| size(sets, *index) > 0)
        .collect();
    let newest = match active.as_slice() {
        [] if has_new => sets.len().checked_sub(1),
        [] => (0..sets.len()).max_by_key(|index| sets.get(*index).map(ReplicaSet::age)),
        [one] => Some(*one),
        _ => None,
    };
    if let Some(index) = newest {
        let desired = strategy.replicas;
        let resize = sets.get(index).is_some_and(|set| {
            set.replicas != desired
                || set
                    .desired
                    .is_some_and(|d| set.replicas > 0 && d != desired)
        });
        return resize.then_some((index, desired)).into_iter().collect();
    }
    let new = sets.last().filter(|_| has_new);
    let saturated = new.is_some_and(|new| {
        new.desired == Some(strategy.replicas)
            && new.replicas == strategy.replicas
            && new.available == strategy.replicas
    });
    if saturated {
        let last = sets.len() - 1;
        return active
            .into_iter()
            .filter(|i| *i != last)
            .map(|i| (i, 0))
            .collect();
    }
    if strategy.recreate {
        return Vec::new();
    }
    share(strategy, sets, active, total)
}

fn share(
    strategy: RolloutStrategy,
    sets: &[ReplicaSet],
    mut active: Vec<usize>,
    total: i64,
) -> Vec<Resize> {
    let current: i64 = active.iter().map(|index| size(sets, *index)).sum();
    let allowed = if strategy.replicas > 0 {
        strategy.max_total()
    } else {
        0
    };
    let to_add = allowed - current;
    // The biggest change first; of equal ones the newer grow and the older shrink.
    active.sort_by_key(|index| (sets.get(*index).map(ReplicaSet::age), *index));
    if to_add > 0 {
        active.reverse();
    }
    active.sort_by_key(|index| -size(sets, *index));
    let mut added = 0;
    let mut sizes: Vec<Resize> = Vec::new();
    for index in active {
        let Some(set) = sets.get(index) else {
            continue;
        };
        let left = to_add - added;
        let share = fraction(strategy, set, total);
        let part = if to_add > 0 {
            share.min(left)
        } else {
            share.max(left)
        };
        let part = if left == 0 { 0 } else { part };
        added += part;
        sizes.push((index, set.replicas + part));
    }
    if let Some((_, first)) = sizes.first_mut() {
        *first = (*first + to_add - added).max(0);
    }
    sizes
}

/// By how much a ReplicaSet grows if all grow in proportion.
fn fraction(strategy: RolloutStrategy, set: &ReplicaSet, total: i64) -> i64 {
    if strategy.replicas == 0 {
        return -set.replicas;
    }
    let before = set.max.unwrap_or(total);
    if before <= 0 {
        return 0;
    }
    let product = set.replicas.saturating_mul(strategy.max_total());
    // Rounded half up.
    (product.saturating_mul(2).saturating_add(before)).div_euclid(2 * before) - set.replicas
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
