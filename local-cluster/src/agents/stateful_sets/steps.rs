//! Which pods of a StatefulSet come, and which go, next.

use std::collections::BTreeMap;

/// How a StatefulSet wants its pods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order<'a> {
    /// The first ordinal.
    pub(super) start: i64,
    pub(super) replicas: i64,
    /// Not one by one.
    pub(super) parallel: bool,
    /// Pods of old versions stay until somebody deletes them.
    pub(super) on_delete: bool,
    /// Pods below stay at the version they have.
    pub(super) partition: i64,
    /// The name of the version that is wanted.
    pub(super) wanted: &'a str,
}

/// A pod by its ordinal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The name of its version.
    pub(super) revision: &'a str,
    pub(super) ended: bool,
    pub(super) terminating: bool,
    pub(super) ready: bool,
    /// Ready for long enough.
    pub(super) available: bool,
}

impl Place<'_> {
    fn is_healthy(&self) -> bool {
        self.ready && !self.terminating
    }
}

/// What is to be done about an ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A pod is made; of the version before while that is still rolled out to its ordinal.
    Create { ordinal: i64, old: bool },
    /// Its pod is deleted.
    Delete { ordinal: i64 },
}

/// What is to be done now, in order, at most so much at a time.
pub(super) fn steps(order: Order<'_>, pods: &BTreeMap<i64, Place<'_>>, most: usize) -> Vec<Step> {
    let end = order.start.saturating_add(order.replicas);
    let mut steps = Vec::new();
    for ordinal in order.start..end {
        if steps.len() >= most {
            return steps;
        }
        let waits = match pods.get(&ordinal) {
            None => {
                let old = !order.on_delete && ordinal < order.start + order.partition;
                steps.push(Step::Create { ordinal, old });
                true
            }
            Some(pod) if pod.terminating => true,
            Some(pod) if pod.ended => {
                steps.push(Step::Delete { ordinal });
                true
            }
            Some(pod) => !pod.available,
        };
        if waits && !order.parallel {
            return steps;
        }
    }
    let unhealthy = pods.iter().find(|(_, pod)| !pod.is_healthy());
    let first_unhealthy = unhealthy.map(|(ordinal, _)| *ordinal);
    let condemned = pods
        .iter()
        .rev()
        .filter(|(o, _)| **o < order.start || **o >= end);
    for (ordinal, pod) in condemned {
        if pod.terminating {
            if order.parallel {
                continue;
            }
            return steps;
        }
        if !order.parallel && !pod.ready && first_unhealthy != Some(*ordinal) {
            return steps;
        }
        steps.push(Step::Delete { ordinal: *ordinal });
        if !order.parallel {
            return steps;
        }
    }
    if order.on_delete || !steps.is_empty() {
        return steps;
    }
    // The newest version comes from the top down, a pod at a time.
    let lowest = order.start.saturating_add(order.partition);
    for (ordinal, pod) in pods.range(lowest.min(end)..end).rev() {
        if pod.revision != order.wanted && !pod.terminating {
            return vec![Step::Delete { ordinal: *ordinal }];
        }
        if !pod.is_healthy() {
            break;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERED: Order<'_> = Order {
        start: 0,
        replicas: 3,
        parallel: false,
        on_delete: false,
        partition: 0,
        wanted: "new",
    };

    fn well(revision: &str) -> Place<'_> {
        Place {
            revision,
            ended: false,
            terminating: false,
            ready: true,
            available: true,
        }
    }

    fn ill(revision: &str) -> Place<'_> {
        Place {
            ready: false,
            available: false,
            ..well(revision)
        }
    }

    fn next(order: Order<'_>, pods: &[(i64, Place<'_>)]) -> Vec<Step> {
        steps(order, &pods.iter().copied().collect(), 100)
    }

    fn create(ordinal: i64) -> Step {
        let old = false;
        Step::Create { ordinal, old }
    }

    fn delete(ordinal: i64) -> Step {
        Step::Delete { ordinal }
    }

    #[test]
    fn pods_come_one_by_one() {
        assert_eq!(next(ORDERED, &[]), [create(0)]);
        assert_eq!(next(ORDERED, &[(0, ill("new"))]), []);
        assert_eq!(next(ORDERED, &[(0, well("new"))]), [create(1)]);
        let young = Place {
            available: false,
            ..well("new")
        };
        assert_eq!(next(ORDERED, &[(0, young)]), []);
        let all = [(0, well("new")), (1, well("new")), (2, well("new"))];
        assert_eq!(next(ORDERED, &all), []);
    }

    #[test]
    fn or_all_at_once() {
        let parallel = Order {
            parallel: true,
            ..ORDERED
        };
        assert_eq!(next(parallel, &[(1, ill("new"))]), [create(0), create(2)]);
        let fewer = Order {
            replicas: 1,
            ..parallel
        };
        let all = [(0, well("new")), (1, ill("new")), (2, well("new"))];
        assert_eq!(next(fewer, &all), [delete(2), delete(1)]);
        assert_eq!(
            steps(
                Order {
                    replicas: 1000,
                    ..parallel
                },
                &BTreeMap::new(),
                7
            )
            .len(),
            7
        );
    }

    #[test]
    fn the_last_goes_first() {
        let fewer = Order {
            replicas: 1,
            ..ORDERED
        };
        let all = [(0, well("new")), (1, well("new")), (2, well("new"))];
        assert_eq!(next(fewer, &all), [delete(2)]);
        let leaving = Place {
            terminating: true,
            ..well("new")
        };
        assert_eq!(
            next(fewer, &[(0, well("new")), (1, well("new")), (2, leaving)]),
            []
        );
        // One that is not well may go, but not while another is not well either.
        assert_eq!(
            next(fewer, &[(0, well("new")), (1, ill("new"))]),
            [delete(1)]
        );
        assert_eq!(
            next(fewer, &[(0, well("new")), (1, ill("new")), (2, ill("new"))]),
            []
        );
        let later = Order {
            start: 1,
            replicas: 2,
            ..ORDERED
        };
        assert_eq!(next(later, &all), [delete(0)]);
    }

    #[test]
    fn a_new_version_comes_from_the_top_down() {
        let all = [(0, well("old")), (1, well("old")), (2, well("old"))];
        assert_eq!(next(ORDERED, &all), [delete(2)]);
        let leaving = Place {
            terminating: true,
            ..well("old")
        };
        assert_eq!(
            next(ORDERED, &[(0, well("old")), (1, well("old")), (2, leaving)]),
            []
        );
        assert_eq!(
            next(ORDERED, &[(0, well("old")), (1, well("old"))]),
            [create(2)]
        );
        assert_eq!(
            next(
                ORDERED,
                &[(0, well("old")), (1, well("old")), (2, ill("new"))]
            ),
            []
        );
        let two = [(0, well("old")), (1, well("old")), (2, well("new"))];
        assert_eq!(next(ORDERED, &two), [delete(1)]);
        let partly = Order {
            partition: 2,
            ..ORDERED
        };
        assert_eq!(next(partly, &all), [delete(2)]);
        assert_eq!(next(partly, &two), []);
        let missing = [(1, well("old")), (2, well("new"))];
        assert_eq!(
            next(partly, &missing),
            [Step::Create {
                ordinal: 0,
                old: true
            }]
        );
        let manual = Order {
            on_delete: true,
            ..ORDERED
        };
        assert_eq!(next(manual, &all), []);
        assert_eq!(next(manual, &missing), [create(0)]);
    }

    #[test]
    fn what_has_ended_is_made_again() {
        let ended = Place {
            ended: true,
            ..ill("new")
        };
        assert_eq!(next(ORDERED, &[(0, ended)]), [delete(0)]);
    }
}
