//! Whether a pod may run on a node, in the scheduler's words.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::{Object, at, condition, name, text};

/// Keeps pods off nodes that are closed.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// Keeps pods off nodes that are not ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Why a pod may not run on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Obstacle {
    /// The node is closed.
    Closed,
    /// It has a taint that the pod does not tolerate.
    Taint,
    /// The pod selects other nodes.
    Selector,
}

impl Obstacle {
    fn reason(self) -> &'static str {
        match self {
            Self::Closed => "node(s) were unschedulable",
            Self::Taint => "node(s) had untolerated taint(s)",
            Self::Selector => "node(s) didn't match Pod's node affinity/selector",
        }
    }
}

/// Whether a node's kubelet says that it is well.
pub(super) fn is_node_ready(node: &Object) -> bool {
    condition(node, "Ready").and_then(|c| c.get("status")?.as_str()) == Some("True")
}

/// What keeps a pod off a node, if anything does.
pub(super) fn obstacle(pod: &Object, node: &Object) -> Option<Obstacle> {
    let closed = at(node, &["spec", "unschedulable"]) == Some(&Value::Bool(true));
    if closed && !tolerates(pod, UNSCHEDULABLE, "", "NoSchedule") {
        return Some(Obstacle::Closed);
    }
    if !is_node_ready(node) && !tolerates(pod, NOT_READY, "", "NoSchedule") {
        return Some(Obstacle::Taint);
    }
    let taints = at(node, &["spec", "taints"]).and_then(Value::as_array);
    let untolerated = taints.into_iter().flatten().any(|taint| {
        let part = |key| taint.get(key).and_then(Value::as_str).unwrap_or_default();
        matches!(part("effect"), "NoSchedule" | "NoExecute")
            && !tolerates(pod, part("key"), part("value"), part("effect"))
    });
    if untolerated {
        return Some(Obstacle::Taint);
    }
    (!selects(pod, node)).then_some(Obstacle::Selector)
}

/// What a pod's condition says that no node may run.
pub(super) fn unschedulable(obstacles: &[Obstacle]) -> String {
    let count = obstacles.len();
    if count == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let mut counts: BTreeMap<Obstacle, usize> = BTreeMap::new();
    for obstacle in obstacles {
        *counts.entry(*obstacle).or_default() += 1;
    }
    let mut reasons: Vec<String> = counts
        .into_iter()
        .map(|(obstacle, count)| format!("{count} {}", obstacle.reason()))
        .collect();
    reasons.sort();
    format!(
        "0/{count} nodes are available: {}. no new claims to deallocate, preemption: 0/{count} nodes are available: {count} Preemption is not helpful for scheduling.",
        reasons.join(", ")
    )
}

fn tolerates(pod: &Object, key: &str, value: &str, effect: &str) -> bool {
    let tolerations = at(pod, &["spec", "tolerations"]).and_then(Value::as_array);
    tolerations.into_iter().flatten().any(|toleration| {
        let part = |key| {
            toleration
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let exists = part("operator") == "Exists";
        let any_key = part("key").is_empty() && exists;
        (part("effect").is_empty() || part("effect") == effect)
            && (any_key || part("key") == key)
            && (exists || part("value") == value)
    })
}

/// Whether a pod's selector and required affinity are satisfied by a node.
pub(super) fn selects(pod: &Object, node: &Object) -> bool {
    let selector = at(pod, &["spec", "nodeSelector"]).and_then(Value::as_object);
    let label = |key: &str| text(node, &["metadata", "labels", key]);
    let selected = selector
        .into_iter()
        .flatten()
        .all(|(key, value)| label(key) == value.as_str());
    let path = [
        "spec",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ];
    let terms = at(pod, &path).and_then(Value::as_array);
    selected && terms.is_none_or(|terms| terms.iter().any(|term| matches(term, node)))
}

/// Whether all that a term asks for is so; a term that asks for nothing matches nothing.
fn matches(term: &Value, node: &Object) -> bool {
    let list = |key| {
        term.get(key)
            .and_then(Value::as_array)
            .filter(|l| !l.is_empty())
    };
    let (labels, fields) = (list("matchExpressions"), list("matchFields"));
    if labels.is_none() && fields.is_none() {
        return false;
    }
    let label = |key: &str| text(node, &["metadata", "labels", key]);
    let field = |key: &str| (key == "metadata.name").then(|| name(node));
    labels.into_iter().flatten().all(|e| holds(e, label))
        && fields.into_iter().flatten().all(|e| holds(e, field))
}

fn holds<'a>(expression: &Value, of: impl Fn(&str) -> Option<&'a str>) -> bool {
    let part = |key| {
        expression
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let values = expression.get("values").and_then(Value::as_array);
    let values: Vec<&str> = values
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let found = of(part("key"));
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let compared = number(found).zip(number(values.first().copied()));
    match part("operator") {
        "In" => found.is_some_and(|found| values.contains(&found)),
        "NotIn" => !found.is_some_and(|found| values.contains(&found)),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        "Gt" => compared.is_some_and(|(found, than)| found > than),
        "Lt" => compared.is_some_and(|(found, than)| found < than),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn node(change: Value) -> Object {
        let mut node = json!({
            "metadata": {"name": "n", "labels": {"zone": "a", "cpus": "8"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        json_patch::merge(&mut node, &change);
        object(node)
    }

    fn pod(spec: Value) -> Object {
        object(json!({"spec": spec}))
    }

    fn tolerating(toleration: Value) -> Object {
        pod(json!({"tolerations": [toleration]}))
    }

    #[test]
    fn closed_and_tainted_nodes_take_only_who_tolerates() {
        let plain = pod(json!({}));
        let all = tolerating(json!({"operator": "Exists"}));
        assert_eq!(obstacle(&plain, &node(json!({}))), None);
        let closed = node(json!({"spec": {"unschedulable": true}}));
        let sick = node(json!({"status": {"conditions": []}}));
        let tainted = node(
            json!({"spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}}),
        );
        for (node, expected) in [
            (&closed, Obstacle::Closed),
            (&sick, Obstacle::Taint),
            (&tainted, Obstacle::Taint),
        ] {
            assert_eq!(obstacle(&plain, node), Some(expected));
            assert_eq!(obstacle(&all, node), None);
        }
        for (toleration, expected) in [
            (json!({"key": "gpu", "value": "yes"}), None),
            (
                json!({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
                None,
            ),
            (json!({"key": "gpu", "value": "no"}), Some(Obstacle::Taint)),
            (
                json!({"key": "gpu", "value": "yes", "effect": "NoExecute"}),
                Some(Obstacle::Taint),
            ),
        ] {
            assert_eq!(obstacle(&tolerating(toleration), &tainted), expected);
        }
        let mild =
            node(json!({"spec": {"taints": [{"key": "gpu", "effect": "PreferNoSchedule"}]}}));
        assert_eq!(obstacle(&plain, &mild), None);
    }

    #[test]
    fn pods_select_nodes() {
        let node = node(json!({}));
        let asks = |spec: Value| obstacle(&pod(spec), &node).is_none();
        assert!(asks(json!({"nodeSelector": {"zone": "a"}})));
        assert!(!asks(json!({"nodeSelector": {"zone": "b"}})));
        assert!(!asks(json!({"nodeSelector": {"zone": "a", "disk": "ssd"}})));
        let term = |term: Value| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{}, term]}}}})
        };
        for (expression, expected) in [
            (
                json!({"key": "zone", "operator": "In", "values": ["a", "b"]}),
                true,
            ),
            (
                json!({"key": "zone", "operator": "NotIn", "values": ["a"]}),
                false,
            ),
            (json!({"key": "disk", "operator": "Exists"}), false),
            (json!({"key": "disk", "operator": "DoesNotExist"}), true),
            (
                json!({"key": "cpus", "operator": "Gt", "values": ["4"]}),
                true,
            ),
            (
                json!({"key": "cpus", "operator": "Lt", "values": ["4"]}),
                false,
            ),
            (json!({"key": "cpus", "operator": "Odd"}), false),
        ] {
            assert_eq!(
                asks(term(json!({"matchExpressions": [expression]}))),
                expected
            );
        }
        let field = |name: &str| {
            term(
                json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}),
            )
        };
        assert!(asks(field("n")) && !asks(field("m")));
    }

    #[test]
    fn the_message_is_the_schedulers() {
        use Obstacle::{Closed, Selector};
        assert_eq!(
            unschedulable(&[Selector, Closed, Selector]),
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
        assert_eq!(unschedulable(&[]), "no nodes available to schedule pods");
    }
}
