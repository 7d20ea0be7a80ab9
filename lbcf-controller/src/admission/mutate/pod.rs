//! The readiness gate of new pods (d70).

use crate::api::names::READINESS_GATE;
use json_patch::Patch;
use serde_json::{Value, json};

/// Adds the gate to a pod that does not have it. The patch is made without a copy of the pod, most of which is
/// of no interest.
pub(super) fn patch(pod: &Value) -> Patch {
    let gate = json!({"conditionType": READINESS_GATE});
    let operation = match pod.pointer("/spec/readinessGates") {
        None | Some(Value::Null) => {
            json!({"op": "add", "path": "/spec/readinessGates", "value": [gate]})
        }
        Some(Value::Array(gates)) if !has_gate(gates) => {
            json!({"op": "add", "path": "/spec/readinessGates/-", "value": gate})
        }
        // It has the gate, or the API server rejects it.
        Some(_) => return Patch::default(),
    };
    if !pod.get("spec").is_some_and(Value::is_object) {
        return Patch::default();
    }
    serde_json::from_value(json!([operation])).unwrap_or_default()
}

fn has_gate(gates: &[Value]) -> bool {
    let mut names = gates.iter().filter_map(|gate| gate.get("conditionType"));
    names.any(|name| name == READINESS_GATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d70_a_pod_has_the_gate_once() {
        let own = json!({"conditionType": READINESS_GATE});
        let other = json!({"conditionType": "example.com/warm"});
        for (gates, expected) in [
            (json!(null), json!([own])),
            (json!([]), json!([own])),
            (json!([other]), json!([other, own])),
            (json!([own, other]), json!([own, other])),
            (json!("wrong"), json!("wrong")),
        ] {
            let mut pod = json!({"spec": {"containers": [], "readinessGates": gates}});
            let added = patch(&pod);
            json_patch::patch(&mut pod, &added).unwrap();
            assert_eq!(pod["spec"]["readinessGates"], expected);
            assert!(patch(&pod).0.is_empty(), "again");
        }
        let mut pod = json!({"spec": {"containers": []}});
        let added = patch(&pod);
        json_patch::patch(&mut pod, &added).unwrap();
        assert_eq!(pod["spec"]["readinessGates"], json!([own]));
        for odd in [json!({}), json!({"spec": null}), json!("pod")] {
            assert!(patch(&odd).0.is_empty(), "{odd}");
        }
    }
}
