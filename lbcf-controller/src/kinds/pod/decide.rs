//! The condition of a pod's readiness gate. No I/O, no clock.

use crate::api::reasons;
use crate::cluster::GateCondition;
use crate::index::{GateStatus, Owner, PodView};

/// The records that a pod should have of an owner, and the registered ones among them, as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnerRecords {
    pub(super) owner: Owner,
    pub(super) expected: usize,
    pub(super) registered: usize,
}

/// The condition to write, if the pod's is not so already.
///
/// The condition of a pod that is ready otherwise does not return to False: a driver with an
/// outage would take pods out of Services that work.
pub(super) fn decide(pod: &PodView, owners: &[OwnerRecords]) -> Option<GateCondition> {
    let gate = pod.gate.filter(|_| !pod.deleting && !pod.finished)?;
    let condition = condition(owners);
    match gate {
        GateStatus::True if condition.is_true || pod.ready => None,
        GateStatus::False if !condition.is_true => None,
        _ => Some(condition),
    }
}

fn condition(owners: &[OwnerRecords]) -> GateCondition {
    let mut unfinished = owners.iter().filter(|it| it.registered < it.expected);
    if let Some(first) = unfinished.next() {
        let missing = first.expected - first.registered;
        let (expected, owner) = (first.expected, first.owner.request_key());
        let others = match unfinished.count() {
            0 => String::new(),
            others => format!(", and {others} others are not complete either"),
        };
        return GateCondition {
            is_true: false,
            reason: reasons::NOT_REGISTERED,
            message: format!(
                "{missing} of {expected} backends of this pod are not registered yet; the condition Ready of {owner} says why{others}"
            ),
        };
    }
    let expected: usize = owners.iter().map(|it| it.expected).sum();
    let (reason, message) = match expected {
        0 => (
            reasons::NOT_SELECTED,
            "no BackendGroup or Bind registers this pod with a load balancer".to_owned(),
        ),
        expected => (
            reasons::REGISTERED,
            format!("all {expected} backends of this pod are registered"),
        ),
    };
    GateCondition {
        is_true: true,
        reason,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;

    fn owner(name: &str, registered: usize, expected: usize) -> OwnerRecords {
        OwnerRecords {
            owner: Owner::Group(ObjectKey::new("ns", name)),
            expected,
            registered,
        }
    }

    fn pod(gate: Option<GateStatus>, ready: bool) -> PodView {
        PodView {
            gate,
            ready,
            ..PodView::default()
        }
    }

    /// The status that is written, if any.
    fn written(pod: &PodView, owners: &[OwnerRecords]) -> Option<bool> {
        decide(pod, owners).map(|condition| condition.is_true)
    }

    #[test]
    fn d67_the_condition_is_true_when_all_backends_are_registered() {
        let waiting = [owner("a", 2, 2), owner("b", 0, 1)];
        let done = [owner("a", 2, 2), owner("b", 1, 1)];
        for (gate, owners, expected) in [
            (GateStatus::Unset, &waiting[..], Some(false)),
            (GateStatus::Unset, &done, Some(true)),
            (GateStatus::Unset, &[], Some(true)),
            (GateStatus::False, &waiting, None),
            (GateStatus::False, &done, Some(true)),
            (GateStatus::False, &[owner("a", 0, 0)], Some(true)),
            (GateStatus::True, &done, None),
            (GateStatus::True, &[], None),
        ] {
            for ready in [true, false] {
                let pod = pod(Some(gate), ready);
                assert_eq!(written(&pod, owners), expected, "{gate:?} {owners:?}");
            }
        }
    }

    #[test]
    fn d68_a_pod_that_is_ready_does_not_lose_its_condition() {
        let waiting = [owner("a", 0, 1)];
        let is_true = Some(GateStatus::True);
        assert_eq!(written(&pod(is_true, true), &waiting), None);
        assert_eq!(written(&pod(is_true, false), &waiting), Some(false));
    }

    #[test]
    fn d67_other_pods_are_not_written() {
        let waiting = [owner("a", 0, 1)];
        assert_eq!(written(&pod(None, true), &waiting), None);
        let unset = pod(Some(GateStatus::Unset), false);
        for pod in [
            PodView {
                deleting: true,
                ..unset.clone()
            },
            PodView {
                finished: true,
                ..unset
            },
        ] {
            assert_eq!(written(&pod, &waiting), None);
            assert_eq!(written(&pod, &[]), None);
        }
    }

    #[test]
    fn d67_the_message_names_the_owner_that_is_not_complete() {
        let found = condition(&[owner("a", 1, 1), owner("b", 1, 3), owner("c", 0, 1)]);
        assert_eq!(
            (&**found.reason, found.message.as_str()),
            (
                "NotRegistered",
                "2 of 3 backends of this pod are not registered yet; the condition Ready of BackendGroup ns/b says why, and 1 others are not complete either"
            )
        );
        let found = condition(&[owner("a", 1, 1), owner("b", 2, 2)]);
        assert_eq!(
            (&**found.reason, found.message.as_str()),
            ("Registered", "all 3 backends of this pod are registered")
        );
        assert_eq!(condition(&[]).reason, "NotSelected");
    }
}
