//! Pods, reduced to what reconciling needs: a whole pod is read only when a driver gets it.

use super::store::{Diff, Store, StoreEvent, Versioned, version_of};
use crate::api::names::READINESS_GATE;
use crate::api::{ObjectKey, key_of};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ObjectMeta;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PodView {
    pub key: ObjectKey,
    pub uid: String,
    pub version: u64,
    pub labels: BTreeMap<String, String>,
    /// Empty while it has none.
    pub ip: String,
    /// Empty while it is not scheduled.
    pub node: String,
    /// The Ready condition is True, or would be but for [`names::READINESS_GATE`](crate::api::names::READINESS_GATE).
    pub ready: bool,
    /// The status of that gate; none if the pod does not have it.
    pub gate: Option<GateStatus>,
    /// The phase is Running.
    pub running: bool,
    /// The phase is Succeeded or Failed: its containers have ended and do not start again.
    pub finished: bool,
    pub deleting: bool,
    /// When it became as `ready` says or, of a pod that is being deleted, when somebody asked for that.
    pub since: Option<Timestamp>,
}

impl PodView {
    pub(crate) fn of(pod: &Pod) -> Self {
        let status = pod.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_ref());
        let conditions = conditions.into_iter().flatten().map(|it| PodCondition {
            type_: &it.type_,
            status: &it.status,
            reason: it.reason.as_deref().unwrap_or_default(),
            since: it.last_transition_time.as_ref().map(|time| time.0),
        });
        let conditions: Vec<PodCondition<'_>> = conditions.collect();
        let gates = pod.spec.as_ref();
        let gates = gates.and_then(|spec| spec.readiness_gates.as_ref());
        let gates = gates.into_iter().flatten();
        Self::new(
            &pod.metadata,
            pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
            status.and_then(|status| status.pod_ip.clone()),
            status.and_then(|status| status.phase.as_deref()),
            PodReadiness::of(gates.map(|gate| gate.condition_type.as_str()), &conditions),
        )
    }

    pub(crate) fn new(
        metadata: &ObjectMeta,
        node: Option<String>,
        ip: Option<String>,
        phase: Option<&str>,
        PodReadiness { ready, gate, since }: PodReadiness,
    ) -> Self {
        Self {
            key: key_of(metadata),
            uid: metadata.uid.clone().unwrap_or_default(),
            version: version_of(metadata),
            labels: metadata.labels.clone().unwrap_or_default(),
            ip: ip.unwrap_or_default(),
            node: node.unwrap_or_default(),
            ready,
            gate,
            running: phase == Some("Running"),
            finished: matches!(phase, Some("Succeeded" | "Failed")),
            deleting: metadata.deletion_timestamp.is_some(),
            since: deletion_requested(metadata).or(since),
        }
    }

    /// True if it can be registered. One that has ended cannot, even where its status still says that it is Ready.
    pub(crate) fn is_available(&self) -> bool {
        !self.ip.is_empty() && self.ready && !self.deleting && !self.finished
    }

    /// True if it has an address and its phase is Running, ready or not.
    pub(crate) const fn is_running(&self) -> bool {
        !self.ip.is_empty() && self.running
    }

    /// True if it has this controller's readiness gate and waits for it, or cannot be registered now.
    pub(super) fn is_waiting_for_gate(&self) -> bool {
        self.gate
            .is_some_and(|gate| gate != GateStatus::True || !self.ready)
    }

    /// True if it is the same for the owners of its records.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.uid == other.uid
            && self.labels == other.labels
            && self.ip == other.ip
            && self.node == other.node
            && self.ready == other.ready
            && self.running == other.running
            && self.finished == other.finished
            && self.deleting == other.deleting
    }
}

/// The timestamp of a deletion is the end of the grace period.
fn deletion_requested(metadata: &ObjectMeta) -> Option<Timestamp> {
    let end = metadata.deletion_timestamp.as_ref()?.0;
    let grace_period = metadata.deletion_grace_period_seconds.unwrap_or_default();
    end.checked_sub(SignedDuration::from_secs(grace_period))
        .ok()
}

impl Versioned for PodView {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }
}

#[derive(Debug, Default)]
pub(super) struct Pods {
    pub(super) store: Store<PodView>,
    names: BTreeSet<ObjectKey>,
}

impl Pods {
    /// Applies an event; returns the pods of which reconciling can see a difference.
    pub(super) fn apply(&mut self, event: StoreEvent<PodView>) -> Vec<(ObjectKey, Diff<PodView>)> {
        let mut diffs = self.store.apply(event);
        for (key, diff) in &diffs {
            if diff.new.is_none() {
                self.names.remove(key);
            } else if diff.old.is_none() {
                self.names.insert(key.clone());
            }
        }
        let differs =
            |old: &PodView, new: &PodView| !old.is_equivalent(new) || old.gate != new.gate;
        diffs.retain(|(_, diff)| diff.is_change(differs));
        diffs
    }

    pub(super) fn in_namespace<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<PodView>> {
        self.names
            .range(ObjectKey::new(namespace, "")..)
            .take_while(move |key| *key.namespace == *namespace)
            .filter_map(|key| self.store.find(key))
    }
}

/// The reason of the condition Ready that kubelets set while a gate's condition is not True.
const GATES_NOT_READY: &str = "ReadinessGatesNotReady";

/// A condition of a pod.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodCondition<'a> {
    pub type_: &'a str,
    pub status: &'a str,
    /// Empty if there is none.
    pub reason: &'a str,
    /// Its last transition.
    pub since: Option<Timestamp>,
}

/// The status of this controller's readiness gate in a pod that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateStatus {
    /// There is no condition of the gate, or its status is Unknown.
    Unset,
    False,
    True,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PodReadiness {
    /// True if the pod is ready to be registered: it is Ready, or nothing but this controller's gate
    /// keeps it from being so. A pod that waited for its registration to be Ready would never be
    /// registered.
    pub ready: bool,
    /// None if the pod does not have this controller's gate.
    pub gate: Option<GateStatus>,
    /// The last transition of the conditions that decide about `ready`.
    pub since: Option<Timestamp>,
}

impl PodReadiness {
    /// The readiness by the names of the pod's gates and its conditions.
    pub(crate) fn of<'a>(
        gates: impl IntoIterator<Item = &'a str>,
        conditions: &[PodCondition<'a>],
    ) -> Self {
        let find = |type_: &str| conditions.iter().find(|it| it.type_ == type_);
        let is_true = |type_: &str| find(type_).is_some_and(|it| it.status == "True");
        let since = |type_: &str| find(type_)?.since;
        let (mut is_gated, mut are_others_open) = (false, true);
        let mut last_transition = since("ContainersReady");
        for gate in gates {
            match gate {
                READINESS_GATE => is_gated = true,
                other => {
                    are_others_open &= is_true(other);
                    last_transition = last_transition.max(since(other));
                }
            }
        }
        if !is_gated {
            return Self {
                ready: is_true("Ready"),
                gate: None,
                since: since("Ready"),
            };
        }
        // A node that cannot be reached changes Ready alone, and keeps the reason.
        let is_unreachable =
            find("Ready").is_some_and(|it| it.status != "True" && it.reason != GATES_NOT_READY);
        let gate = match find(READINESS_GATE).map(|it| it.status) {
            Some("True") => GateStatus::True,
            Some("False") => GateStatus::False,
            _ => GateStatus::Unset,
        };
        Self {
            ready: is_true("ContainersReady") && are_others_open && !is_unreachable,
            gate: Some(gate),
            since: match is_unreachable {
                true => since("Ready"),
                false => last_transition,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "example.com/warm";

    fn readiness(gates: &[&'static str], conditions: &[[&'static str; 3]]) -> PodReadiness {
        let conditions = conditions
            .iter()
            .map(|[type_, status, reason]| PodCondition {
                type_,
                status,
                reason,
                since: None,
            });
        let conditions: Vec<PodCondition<'_>> = conditions.collect();
        PodReadiness::of(gates.iter().copied(), &conditions)
    }

    #[test]
    fn a_pod_without_the_gate_is_ready_when_its_condition_is_true() {
        let containers = ["ContainersReady", "True", ""];
        for (gates, status, ready) in [
            (&[][..], "True", true),
            (&[], "False", false),
            (&[OTHER], "False", false),
            (&[OTHER], "True", true),
        ] {
            let found = readiness(gates, &[containers, ["Ready", status, ""]]);
            let since = None;
            assert_eq!(
                found,
                PodReadiness {
                    ready,
                    gate: None,
                    since
                }
            );
        }
        assert_eq!(readiness(&[], &[]), PodReadiness::default());
    }

    #[test]
    fn readiness_begins_with_the_last_condition_that_it_needs() {
        let since = |gates: &[&'static str], ready: [&'static str; 2]| {
            let at = |second| Timestamp::from_second(second).ok();
            let condition = |type_, status, reason, second| PodCondition {
                type_,
                status,
                reason,
                since: at(second),
            };
            let conditions = [
                condition("ContainersReady", "True", "", 5),
                condition(OTHER, "True", "", 7),
                condition(READINESS_GATE, "True", "", 9),
                condition("Ready", ready[0], ready[1], 11),
            ];
            let readiness = PodReadiness::of(gates.iter().copied(), &conditions);
            readiness.since.map(Timestamp::as_second)
        };
        assert_eq!(since(&[OTHER], ["True", ""]), Some(11));
        assert_eq!(since(&[READINESS_GATE], ["True", ""]), Some(5));
        assert_eq!(since(&[READINESS_GATE, OTHER], ["True", ""]), Some(7));
        let closed = ["False", GATES_NOT_READY];
        assert_eq!(since(&[READINESS_GATE, OTHER], closed), Some(7));
        // The node cannot be reached.
        assert_eq!(since(&[READINESS_GATE, OTHER], ["False", ""]), Some(11));
        assert_eq!(readiness(&[], &[]).since, None);
    }

    #[test]
    fn d67_a_pod_with_the_gate_is_ready_when_only_the_gate_is_closed() {
        let gated = &[OTHER, READINESS_GATE][..];
        let closed = ["Ready", "False", GATES_NOT_READY];
        let containers = ["ContainersReady", "True", ""];
        for (conditions, ready) in [
            (vec![containers, closed, [OTHER, "True", ""]], true),
            (vec![containers, [OTHER, "True", ""]], true),
            (vec![containers, closed, [OTHER, "False", ""]], false),
            (vec![containers, closed], false),
            (
                vec![["ContainersReady", "False", ""], [OTHER, "True", ""]],
                false,
            ),
            (vec![[OTHER, "True", ""]], false),
            // The node cannot be reached.
            (
                vec![containers, ["Ready", "False", ""], [OTHER, "True", ""]],
                false,
            ),
        ] {
            let found = readiness(gated, &conditions);
            assert_eq!(found.ready, ready, "{conditions:?}");
            assert_eq!(found.gate, Some(GateStatus::Unset), "{conditions:?}");
        }
        for (status, expected) in [
            ("True", GateStatus::True),
            ("False", GateStatus::False),
            ("Unknown", GateStatus::Unset),
        ] {
            let found = readiness(&[READINESS_GATE], &[[READINESS_GATE, status, ""]]);
            assert_eq!(found.gate, Some(expected));
        }
    }
}
