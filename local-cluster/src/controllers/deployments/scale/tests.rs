//! Rolling updates, step by step.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::object::object;
use crate::store::Stored;

fn set(age: u32, replicas: i64, available: i64) -> ReplicaSet {
    let stored = Stored::new(
        object(json!({
            "metadata": {"name": format!("rs-{age}"), "creationTimestamp": format!("{age:04}")},
            "spec": {"replicas": replicas},
            "status": {"replicas": replicas, "availableReplicas": available},
        })),
        1,
    );
    ReplicaSet::of(&Arc::new(stored))
}

fn rolling(replicas: i64, max_surge: i64, max_unavailable: i64) -> RolloutStrategy {
    RolloutStrategy {
        replicas,
        max_surge,
        max_unavailable,
        recreate: false,
    }
}

/// Rolls until nothing changes, as if pods were available at once; returns the sizes in between.
fn steps(strategy: RolloutStrategy, mut sets: Vec<ReplicaSet>) -> Vec<Vec<i64>> {
    let mut seen = Vec::new();
    for _ in 0..100 {
        let resized = rolling_update(strategy, &sets);
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
            total <= strategy.max_total() && total >= strategy.min_available(),
            "{sizes:?}"
        );
        seen.push(sizes);
    }
    panic!("it does not end: {seen:?}");
}

#[test]
fn with_surge_new_pods_come_first() {
    let found = steps(rolling(3, 1, 0), vec![set(1, 3, 3), set(2, 0, 0)]);
    assert_eq!(found, [[3, 1], [2, 1], [2, 2], [1, 2], [1, 3], [0, 3]]);
}

#[test]
fn without_surge_old_pods_are_deleted_first() {
    let found = steps(rolling(2, 0, 1), vec![set(1, 2, 2), set(2, 0, 0)]);
    assert_eq!(found, [[1, 0], [1, 1], [0, 1], [0, 2]]);
}

#[test]
fn no_pod_is_deleted_while_new_pods_are_not_available() {
    let strategy = rolling(3, 1, 0);
    assert_eq!(rolling_update(strategy, &[set(1, 3, 3), set(2, 1, 0)]), []);
    assert_eq!(
        rolling_update(strategy, &[set(1, 3, 3), set(2, 1, 1)]),
        [(0, 2)]
    );
}

#[test]
fn unavailable_pods_are_deleted_first() {
    let sets = [set(1, 2, 2), set(2, 2, 0), set(3, 1, 1)];
    assert_eq!(rolling_update(rolling(3, 2, 0), &sets), [(1, 0)]);
}

#[test]
fn a_smaller_deployment_shrinks_its_new_set_at_once() {
    assert_eq!(
        rolling_update(rolling(2, 1, 0), &[set(1, 0, 0), set(2, 5, 5)]),
        [(1, 2)]
    );
}

#[test]
fn a_paused_deployment_scales_its_newest_active_set() {
    let sets = [set(1, 2, 2), set(2, 3, 3), set(3, 0, 0)];
    for (replicas, expected) in [(5, vec![]), (7, vec![(1, 5)]), (1, vec![(1, 0)])] {
        assert_eq!(scale_paused(rolling(replicas, 1, 0), &sets), expected);
    }
    let none = [set(1, 0, 0), set(2, 0, 0)];
    assert_eq!(scale_paused(rolling(5, 1, 0), &none), [(1, 5)]);
    assert_eq!(scale_paused(rolling(5, 1, 0), &[]), []);
}

#[test]
fn the_size_of_a_new_set_is_limited_by_surge() {
    let strategy = rolling(4, 1, 1);
    assert_eq!(size_of_new(strategy, &[], 0), 4);
    assert_eq!(size_of_new(strategy, &[set(1, 4, 4)], 0), 1);
    assert_eq!(size_of_new(strategy, &[set(1, 5, 5)], 0), 0);
    let recreate = RolloutStrategy {
        recreate: true,
        ..strategy
    };
    assert_eq!(size_of_new(recreate, &[set(1, 4, 4)], 0), 4);
}

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
