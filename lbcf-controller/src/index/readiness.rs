//! Derives from a pod's readiness gates and conditions if it is ready to be registered.

use crate::api::names::READINESS_GATE;

/// The reason of the condition Ready that kubelets set while a gate's condition is not True.
const GATES_NOT_READY: &str = "ReadinessGatesNotReady";

/// A condition of a pod.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodCondition<'a> {
    pub type_: &'a str,
    pub status: &'a str,
    /// Empty if there is none.
    pub reason: &'a str,
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
    /// True if the pod is Ready, or nothing but this controller's gate keeps it from being so. A pod
    /// that had to be Ready before its registration would wait for its own gate forever.
    pub ready: bool,
    /// None if the pod does not have this controller's gate.
    pub gate: Option<GateStatus>,
}

impl PodReadiness {
    /// The readiness by the names of the pod's gates and its conditions.
    pub(crate) fn of<'a>(
        gates: impl IntoIterator<Item = &'a str>,
        conditions: &[PodCondition<'a>],
    ) -> Self {
        let find = |type_: &str| conditions.iter().find(|it| it.type_ == type_);
        let is_true = |type_: &str| find(type_).is_some_and(|it| it.status == "True");
        let (mut is_gated, mut are_others_open) = (false, true);
        for gate in gates {
            match gate {
                READINESS_GATE => is_gated = true,
                other => are_others_open &= is_true(other),
            }
        }
        if !is_gated {
            return Self {
                ready: is_true("Ready"),
                gate: None,
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
            assert_eq!(found, PodReadiness { ready, gate: None });
        }
        assert_eq!(readiness(&[], &[]), PodReadiness::default());
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
