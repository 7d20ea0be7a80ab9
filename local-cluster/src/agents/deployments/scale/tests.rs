//! Sizes, step by step.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::object::object;
use crate::store::Stored;

/// A ReplicaSet with so many pods wanted and available.
fn set(age: u32, replicas: i64, available: i64) -> Set {
    let stored = Stored::new(
        object(json!({
            "metadata": {"name": format!("rs-{age}"), "creationTimestamp": format!("{age:04}")},
            "spec": {"replicas": replicas},
            "status": {"replicas": replicas, "availableReplicas": available},
        })),
        1,
    );
    Set::of(&Arc::new(stored))
}

/// The same, scaled when the Deployment had this size.
fn scaled(age: u32, replicas: i64, available: i64, desired: i64, max: i64) -> Set {
    Set {
        desired: Some(desired),
        max: Some(max),
        ..set(age, replicas, available)
    }
}

fn rolling(replicas: i64, surge: i64, unavailable: i64) -> Strategy {
    Strategy {
        replicas,
        surge,
        unavailable,
        recreate: false,
    }
}

/// Rolls until nothing changes, as if pods were available at once; returns the sizes in between.
fn steps(strategy: Strategy, mut sets: Vec<Set>) -> Vec<Vec<i64>> {
    let mut seen = Vec::new();
    for _ in 0..100 {
        let resized = roll(strategy, &sets);
        if resized.is_empty() {
            return seen;
        }
        for (index, size) in resized {
            sets[index].replicas = size;
            sets[index].available = size;
        }
        let sizes: Vec<i64> = sets.iter().map(|s| s.replicas).collect();
        let total: i64 = sizes.iter().sum();
        assert!(
            total <= strategy.most() && total >= strategy.least(),
            "{sizes:?}"
        );
        seen.push(sizes);
    }
    panic!("it does not end: {seen:?}");
}

#[test]
fn new_pods_come_before_old_ones_go() {
    let found = steps(rolling(3, 1, 0), vec![set(1, 3, 3), set(2, 0, 0)]);
    assert_eq!(found, [[3, 1], [2, 1], [2, 2], [1, 2], [1, 3], [0, 3]]);
}

#[test]
fn without_surge_old_pods_go_first() {
    let found = steps(rolling(2, 0, 1), vec![set(1, 2, 2), set(2, 0, 0)]);
    assert_eq!(found, [[1, 0], [1, 1], [0, 1], [0, 2]]);
}

#[test]
fn nothing_goes_while_new_pods_are_not_available() {
    let strategy = rolling(3, 1, 0);
    assert_eq!(roll(strategy, &[set(1, 3, 3), set(2, 1, 0)]), []);
    assert_eq!(roll(strategy, &[set(1, 3, 3), set(2, 1, 1)]), [(0, 2)]);
}

#[test]
fn pods_that_serve_nobody_go_first() {
    let sets = [set(1, 2, 2), set(2, 2, 0), set(3, 1, 1)];
    assert_eq!(roll(rolling(3, 2, 0), &sets), [(1, 0)]);
}

#[test]
fn a_smaller_deployment_shrinks_its_new_set_at_once() {
    assert_eq!(
        roll(rolling(2, 1, 0), &[set(1, 0, 0), set(2, 5, 5)]),
        [(1, 2)]
    );
}

#[test]
fn scaling_is_noticed_by_what_was_wanted_before() {
    let strategy = rolling(5, 1, 0);
    assert!(was_scaled(strategy, &[scaled(1, 3, 3, 3, 4)]));
    assert!(!was_scaled(strategy, &[scaled(1, 5, 5, 5, 6)]));
    assert!(!was_scaled(strategy, &[scaled(1, 0, 0, 3, 4)]));
}

#[test]
fn a_single_active_set_takes_it_all() {
    let sets = [set(1, 0, 0), scaled(2, 3, 3, 3, 4)];
    assert_eq!(proportional(rolling(5, 1, 0), &sets, true, 3), [(1, 5)]);
    assert_eq!(proportional(rolling(3, 1, 0), &sets, true, 3), []);
    let none = [set(1, 0, 0), set(2, 0, 0)];
    assert_eq!(proportional(rolling(5, 1, 0), &none, false, 0), [(1, 5)]);
}

#[test]
fn several_sets_share_what_is_added() {
    let sets = [scaled(1, 8, 8, 10, 13), scaled(2, 5, 5, 10, 13)];
    let found = proportional(rolling(15, 4, 0), &sets, true, 13);
    assert_eq!(found, [(0, 12), (1, 7)]);
    let found = proportional(rolling(5, 2, 0), &sets, true, 13);
    assert_eq!(found.iter().map(|(_, size)| size).sum::<i64>(), 7);
    let found = proportional(rolling(0, 0, 0), &sets, true, 13);
    assert_eq!(found, [(0, 0), (1, 0)]);
}

#[test]
fn a_finished_rollout_leaves_nothing_old() {
    let sets = [scaled(1, 2, 2, 5, 6), scaled(2, 5, 5, 5, 6)];
    assert_eq!(proportional(rolling(5, 1, 0), &sets, true, 7), [(0, 0)]);
}

#[test]
fn new_sets_begin_with_the_room_that_there_is() {
    let strategy = rolling(4, 1, 1);
    assert_eq!(size_of_new(strategy, &[], 0), 4);
    assert_eq!(size_of_new(strategy, &[set(1, 4, 4)], 0), 1);
    assert_eq!(size_of_new(strategy, &[set(1, 5, 5)], 0), 0);
    let recreate = Strategy {
        recreate: true,
        ..strategy
    };
    assert_eq!(size_of_new(recreate, &[set(1, 4, 4)], 0), 4);
}
