//! How many pods each ReplicaSet of a Deployment is to have.
//!
//! Each function returns the ReplicaSets to be resized, by index into all of them: the new one, if
//! there is one, is the last.

use super::set::{Set, Strategy};

/// A ReplicaSet, by index, and its new size.
pub(super) type Resize = (usize, i64);

/// Whether the Deployment was scaled since its ReplicaSets were.
pub(super) fn was_scaled(strategy: Strategy, sets: &[Set]) -> bool {
    sets.iter().filter(|set| set.replicas > 0).any(|set| {
        set.desired
            .is_some_and(|desired| desired != strategy.replicas)
    })
}

/// Brings the ReplicaSets of a paused or rescaled Deployment to its size, in proportion.
pub(super) fn proportional(
    strategy: Strategy,
    sets: &[Set],
    has_new: bool,
    total: i64,
) -> Vec<Resize> {
    let active: Vec<usize> = indices(sets, |set| set.replicas > 0);
    let newest = match active.as_slice() {
        [] if has_new => sets.len().checked_sub(1),
        [] => (0..sets.len()).max_by_key(|index| sets.get(*index).map(Set::age)),
        [one] => Some(*one),
        _ => None,
    };
    if let Some(index) = newest {
        let set = sets.get(index).filter(|set| {
            let wanted = strategy.replicas;
            set.replicas != wanted || set.desired.is_some_and(|d| set.replicas > 0 && d != wanted)
        });
        return set
            .map(|_| (index, strategy.replicas))
            .into_iter()
            .collect();
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

fn share(strategy: Strategy, sets: &[Set], mut active: Vec<usize>, total: i64) -> Vec<Resize> {
    let size = |index: &usize| sets.get(*index).map_or(0, |set| set.replicas);
    let current: i64 = active.iter().map(size).sum();
    let allowed = if strategy.replicas > 0 {
        strategy.most()
    } else {
        0
    };
    let to_add = allowed - current;
    // The biggest bear the most; of equals the newer grow and the older shrink.
    active.sort_by_key(|index| {
        let age = sets.get(*index).map(Set::age);
        (age, *index)
    });
    if to_add > 0 {
        active.reverse();
    }
    active.sort_by_key(|index| -size(index));
    let mut added = 0;
    let mut sizes: Vec<Resize> = Vec::new();
    for index in active {
        let Some(set) = sets.get(index) else {
            continue;
        };
        let left = to_add - added;
        let wanted = fraction(strategy, set, total);
        let part = if to_add > 0 {
            wanted.min(left)
        } else {
            wanted.max(left)
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

/// How much bigger a ReplicaSet would be if all grew alike.
fn fraction(strategy: Strategy, set: &Set, total: i64) -> i64 {
    if strategy.replicas == 0 {
        return -set.replicas;
    }
    let before = set.max.unwrap_or(total);
    if before <= 0 {
        return 0;
    }
    let product = set.replicas.saturating_mul(strategy.most());
    // Rounded to the nearest, halves up.
    (product.saturating_mul(2).saturating_add(before)).div_euclid(2 * before) - set.replicas
}

/// How many pods the new ReplicaSet may have now.
pub(super) fn size_of_new(strategy: Strategy, sets: &[Set], new: i64) -> i64 {
    if strategy.recreate {
        return strategy.replicas;
    }
    let current: i64 = sets.iter().map(|set| set.replicas).sum();
    let room = strategy.most() - current;
    if room <= 0 {
        return new;
    }
    new + room.min(strategy.replicas - new)
}

/// The next step of a rolling update.
pub(super) fn roll(strategy: Strategy, sets: &[Set]) -> Vec<Resize> {
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

fn scale_down_old(strategy: Strategy, new: &Set, old: &[Set]) -> Vec<Resize> {
    let mut sizes: Vec<i64> = old.iter().map(|set| set.replicas).collect();
    let all: i64 = sizes.iter().sum::<i64>() + new.replicas;
    let spare = all - strategy.least() - (new.replicas - new.available);
    let mut order: Vec<usize> = (0..old.len()).collect();
    order.sort_by_key(|index| old.get(*index).map(Set::age));
    // Pods that are not available serve nobody, and go first.
    let mut left = spare;
    let shrink = |index: usize, by: i64, sizes: &mut Vec<i64>| {
        let by = by.max(0);
        if let Some(size) = sizes.get_mut(index) {
            *size -= by;
        }
        by
    };
    let mut lost = 0;
    for index in &order {
        if let Some(set) = old.get(*index) {
            let taken = shrink(*index, left.min(set.replicas - set.available), &mut sizes);
            left -= taken;
            lost += taken;
        }
    }
    let available: i64 = old.iter().map(|set| set.available).sum::<i64>() + new.available;
    let mut left = (available - strategy.least()).min(spare - lost);
    for index in &order {
        let size = sizes.get(*index).copied().unwrap_or(0);
        left -= shrink(*index, left.min(size), &mut sizes);
    }
    changed(old, &sizes)
}

/// The old ReplicaSets of a Deployment that recreates its pods.
pub(super) fn empty(old: &[Set]) -> Vec<Resize> {
    changed(old, &vec![0; old.len()])
}

fn changed(sets: &[Set], sizes: &[i64]) -> Vec<Resize> {
    let both = sets.iter().zip(sizes).enumerate();
    both.filter(|(_, (set, size))| set.replicas != **size)
        .map(|(index, (_, size))| (index, *size))
        .collect()
}

fn indices(sets: &[Set], wanted: impl Fn(&Set) -> bool) -> Vec<usize> {
    let all = sets.iter().enumerate();
    all.filter(|(_, set)| wanted(set)).map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests;
