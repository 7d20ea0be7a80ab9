//! Which pods of a StatefulSet are created and deleted next.

use std::collections::BTreeMap;

/// The parts of a StatefulSet's spec that decide about its pods.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatefulSetSpec<'a> {
    /// `spec.ordinals.start`, the first ordinal.
    pub(super) start: i64,
    pub(super) replicas: i64,
    pub(super) parallel: bool,
    /// Pods of old revisions stay until a client deletes them.
    pub(super) on_delete: bool,
    /// Pods with lower ordinals keep their revision.
    pub(super) partition: i64,
    pub(super) update_revision: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PodState<'a> {
    pub(super) revision: &'a str,
    pub(super) ended: bool,
    pub(super) terminating: bool,
    pub(super) ready: bool,
    /// Ready for at least `minReadySeconds`.
    pub(super) available: bool,
}

impl PodState<'_> {
    fn is_healthy(&self) -> bool {
        self.ready && !self.terminating
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodChange {
    /// Create a pod; `old`: of the current revision, not of the update revision.
    Create {
        ordinal: i64,
        old: bool,
    },
    Delete {
        ordinal: i64,
    },
}

/// The next changes in order, at most about `max`; `pods` are by ordinal.
pub(super) fn pod_changes(
    spec: StatefulSetSpec<'_>,
    pods: &BTreeMap<i64, PodState<'_>>,
    max: usize,
) -> Vec<PodChange> {
    let end = spec.start.saturating_add(spec.replicas);
    let mut changes = Vec::new();
    for ordinal in spec.start..end {
        if changes.len() >= max {
            return changes;
        }
        let waits = match pods.get(&ordinal) {
            None => {
                let old = !spec.on_delete && ordinal < spec.start + spec.partition;
                changes.push(PodChange::Create { ordinal, old });
                true
            }
            Some(pod) if pod.terminating => true,
            Some(pod) if pod.ended => {
                changes.push(PodChange::Delete { ordinal });
                true
            }
            Some(pod) => !pod.available,
        };
        if waits && !spec.parallel {
            return changes;
        }
    }
    let unhealthy = pods.iter().find(|(_, pod)| !pod.is_healthy());
    let first_unhealthy = unhealthy.map(|(ordinal, _)| *ordinal);
    let condemned = pods
        .iter()
        .rev()
        .filter(|(o, _)| **o < spec.start || **o >= end);
    for (ordinal, pod) in condemned {
        if pod.terminating {
            if spec.parallel {
                continue;
            }
            return changes;
        }
        if !spec.parallel && !pod.ready && first_unhealthy != Some(*ordinal) {
            return changes;
        }
        changes.push(PodChange::Delete { ordinal: *ordinal });
        if !spec.parallel {
            return changes;
        }
    }
    if spec.on_delete || !changes.is_empty() {
        return changes;
    }
    // Pods are updated from the highest ordinal down, one at a time.
    let lowest = spec.start.saturating_add(spec.partition);
    for (ordinal, pod) in pods.range(lowest.min(end)..end).rev() {
        if pod.revision != spec.update_revision && !pod.terminating {
            return vec![PodChange::Delete { ordinal: *ordinal }];
        }
        if !pod.is_healthy() {
            break;
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERED: StatefulSetSpec<'_> = StatefulSetSpec {
        start: 0,
        replicas: 3,
        parallel: false,
        on_delete: false,
        partition: 0,
        update_revision: "new",
    };

    fn healthy(revision: &str) -> PodState<'_> {
        PodState {
            revision,
            ended: false,
            terminating: false,
            ready: true,
            available: true,
        }
    }

    fn unhealthy(revision: &str) -> PodState<'_> {
        PodState {
            ready: false,
            available: false,
            ..healthy(revision)
        }
    }

    fn next(spec: StatefulSetSpec<'_>, pods: &[(i64, PodState<'_>)]) -> Vec<PodChange> {
        pod_changes(spec, &pods.iter().copied().collect(), 100)
    }

    fn create(ordinal: i64) -> PodChange {
        let old = false;
        PodChange::Create { ordinal, old }
    }

    fn delete(ordinal: i64) -> PodChange {
        PodChange::Delete { ordinal }
    }

    #[test]
    fn pods_are_created_one_by_one() {
        assert_eq!(next(ORDERED, &[]), [create(0)]);
        assert_eq!(next(ORDERED, &[(0, unhealthy("new"))]), []);
        assert_eq!(next(ORDERED, &[(0, healthy("new"))]), [create(1)]);
        let young = PodState {
            available: false,
            ..healthy("new")
        };
        assert_eq!(next(ORDERED, &[(0, young)]), []);
        let all = [
            (0, healthy("new")),
            (1, healthy("new")),
            (2, healthy("new")),
        ];
        assert_eq!(next(ORDERED, &all), []);
    }

    #[test]
    fn parallel_pods_are_created_at_once() {
        let parallel = StatefulSetSpec {
            parallel: true,
            ..ORDERED
        };
        assert_eq!(
            next(parallel, &[(1, unhealthy("new"))]),
            [create(0), create(2)]
        );
        let fewer = StatefulSetSpec {
            replicas: 1,
            ..parallel
        };
        let all = [
            (0, healthy("new")),
            (1, unhealthy("new")),
            (2, healthy("new")),
        ];
        assert_eq!(next(fewer, &all), [delete(2), delete(1)]);
        assert_eq!(
            pod_changes(
                StatefulSetSpec {
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
    fn the_last_pod_is_deleted_first() {
        let fewer = StatefulSetSpec {
            replicas: 1,
            ..ORDERED
        };
        let all = [
            (0, healthy("new")),
            (1, healthy("new")),
            (2, healthy("new")),
        ];
        assert_eq!(next(fewer, &all), [delete(2)]);
        let terminating = PodState {
            terminating: true,
            ..healthy("new")
        };
        assert_eq!(
            next(
                fewer,
                &[(0, healthy("new")), (1, healthy("new")), (2, terminating)]
            ),
            []
        );
        // An unhealthy pod may be deleted, but not while another one is unhealthy.
        assert_eq!(
            next(fewer, &[(0, healthy("new")), (1, unhealthy("new"))]),
            [delete(1)]
        );
        assert_eq!(
            next(
                fewer,
                &[
                    (0, healthy("new")),
                    (1, unhealthy("new")),
                    (2, unhealthy("new"))
                ]
            ),
            []
        );
        let later = StatefulSetSpec {
            start: 1,
            replicas: 2,
            ..ORDERED
        };
        assert_eq!(next(later, &all), [delete(0)]);
    }

    #[test]
    fn updates_start_with_the_highest_ordinal() {
        let all = [
            (0, healthy("old")),
            (1, healthy("old")),
            (2, healthy("old")),
        ];
        assert_eq!(next(ORDERED, &all), [delete(2)]);
        let terminating = PodState {
            terminating: true,
            ..healthy("old")
        };
        assert_eq!(
            next(
                ORDERED,
                &[(0, healthy("old")), (1, healthy("old")), (2, terminating)]
            ),
            []
        );
        assert_eq!(
            next(ORDERED, &[(0, healthy("old")), (1, healthy("old"))]),
            [create(2)]
        );
        assert_eq!(
            next(
                ORDERED,
                &[
                    (0, healthy("old")),
                    (1, healthy("old")),
                    (2, unhealthy("new"))
                ]
            ),
            []
        );
        let two = [
            (0, healthy("old")),
            (1, healthy("old")),
            (2, healthy("new")),
        ];
        assert_eq!(next(ORDERED, &two), [delete(1)]);
        let partly = StatefulSetSpec {
            partition: 2,
            ..ORDERED
        };
        assert_eq!(next(partly, &all), [delete(2)]);
        assert_eq!(next(partly, &two), []);
        let missing = [(1, healthy("old")), (2, healthy("new"))];
        assert_eq!(
            next(partly, &missing),
            [PodChange::Create {
                ordinal: 0,
                old: true
            }]
        );
        let manual = StatefulSetSpec {
            on_delete: true,
            ..ORDERED
        };
        assert_eq!(next(manual, &all), []);
        assert_eq!(next(manual, &missing), [create(0)]);
    }

    #[test]
    fn pods_that_ended_are_replaced() {
        let ended = PodState {
            ended: true,
            ..unhealthy("new")
        };
        assert_eq!(next(ORDERED, &[(0, ended)]), [delete(0)]);
    }
}
