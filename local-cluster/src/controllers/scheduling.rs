//! The filters of the scheduler, which decide if a pod may run on a node.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::{Object, at, entries, is_condition_true, items, items_in, name, string, text};
use crate::selector::LabelRule;

const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Why a pod may not run on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilterReason {
    /// The node is cordoned.
    Unschedulable,
    /// The node has a taint that the pod does not tolerate.
    Taint,
    /// The pod selects other nodes.
    Selector,
}

impl FilterReason {
    fn message(self) -> &'static str {
        match self {
            Self::Unschedulable => "node(s) were unschedulable",
            Self::Taint => "node(s) had untolerated taint(s)",
            Self::Selector => "node(s) didn't match Pod's node affinity/selector",
        }
    }
}

pub(super) fn is_node_ready(node: &Object) -> bool {
    is_condition_true(node, "Ready")
}

/// Why a pod may not run on a node, if it may not.
pub(super) fn filter(pod: &Object, node: &Object) -> Option<FilterReason> {
    let cordoned = at(node, &["spec", "unschedulable"]) == Some(&Value::Bool(true));
    if cordoned && !tolerates(pod, UNSCHEDULABLE, "", "NoSchedule") {
        return Some(FilterReason::Unschedulable);
    }
    let untolerated = items(node, &["spec", "taints"]).any(|taint| {
        let effect = string(taint, "effect");
        matches!(effect, "NoSchedule" | "NoExecute")
            && !tolerates(pod, string(taint, "key"), string(taint, "value"), effect)
    });
    if untolerated || (!is_node_ready(node) && !tolerates(pod, NOT_READY, "", "NoSchedule")) {
        return Some(FilterReason::Taint);
    }
    (!selects(pod, node)).then_some(FilterReason::Selector)
}

/// The message of a pod that fits none of the nodes; `reasons` has one entry for each node.
pub(super) fn unschedulable(reasons: &[FilterReason]) -> String {
    let count = reasons.len();
    if count == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let mut counts: BTreeMap<FilterReason, usize> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(*reason).or_default() += 1;
    }
    let mut messages: Vec<String> = counts
        .into_iter()
        .map(|(reason, count)| format!("{count} {}", reason.message()))
        .collect();
    messages.sort();
    format!(
        "0/{count} nodes are available: {}. no new claims to deallocate, preemption: 0/{count} nodes are available: {count} Preemption is not helpful for scheduling.",
        messages.join(", ")
    )
}

fn tolerates(pod: &Object, key: &str, value: &str, effect: &str) -> bool {
    items(pod, &["spec", "tolerations"]).any(|toleration| {
        let part = |key| string(toleration, key);
        let exists = part("operator") == "Exists";
        let any_key = part("key").is_empty() && exists;
        (part("effect").is_empty() || part("effect") == effect)
            && (any_key || part("key") == key)
            && (exists || part("value") == value)
    })
}

/// A pod's node selector and required node affinity match a node.
pub(super) fn selects(pod: &Object, node: &Object) -> bool {
    let label = |key: &str| text(node, &["metadata", "labels", key]);
    let selected =
        entries(pod, &["spec", "nodeSelector"]).all(|(key, value)| label(key) == value.as_str());
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

/// All requirements of a term hold; a term without requirements matches nothing.
fn matches(term: &Value, node: &Object) -> bool {
    let label = |key: &str| text(node, &["metadata", "labels", key]);
    let field = |key: &str| (key == "metadata.name").then(|| name(node));
    let labels = items_in(term, "matchExpressions").map(|given| holds(given, label));
    let mut results = labels.chain(items_in(term, "matchFields").map(|given| holds(given, field)));
    results
        .next()
        .is_some_and(|first| first && results.all(|holds| holds))
}

fn holds<'a>(requirement: &Value, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
    let values =
        items_in(requirement, "values").filter_map(|value| Some(value.as_str()?.to_owned()));
    let rule = LabelRule::of(string(requirement, "operator"), values.collect());
    rule.holds(value_of(string(requirement, "key")))
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
    fn cordoned_and_tainted_nodes_take_pods_that_tolerate_it() {
        let plain = pod(json!({}));
        let all = tolerating(json!({"operator": "Exists"}));
        assert_eq!(filter(&plain, &node(json!({}))), None);
        let cordoned = node(json!({"spec": {"unschedulable": true}}));
        let not_ready = node(json!({"status": {"conditions": []}}));
        let tainted = node(
            json!({"spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}}),
        );
        for (node, expected) in [
            (&cordoned, FilterReason::Unschedulable),
            (&not_ready, FilterReason::Taint),
            (&tainted, FilterReason::Taint),
        ] {
            assert_eq!(filter(&plain, node), Some(expected));
            assert_eq!(filter(&all, node), None);
        }
        let taint = Some(FilterReason::Taint);
        for (toleration, expected) in [
            (json!({"key": "gpu", "value": "yes"}), None),
            (
                json!({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
                None,
            ),
            (json!({"key": "gpu", "value": "no"}), taint),
            (
                json!({"key": "gpu", "value": "yes", "effect": "NoExecute"}),
                taint,
            ),
        ] {
            assert_eq!(filter(&tolerating(toleration), &tainted), expected);
        }
        let preferred =
            node(json!({"spec": {"taints": [{"key": "gpu", "effect": "PreferNoSchedule"}]}}));
        assert_eq!(filter(&plain, &preferred), None);
    }

    #[test]
    fn pods_select_nodes() {
        let node = node(json!({}));
        let fits = |spec: Value| filter(&pod(spec), &node).is_none();
        assert!(fits(json!({"nodeSelector": {"zone": "a"}})));
        assert!(!fits(json!({"nodeSelector": {"zone": "b"}})));
        assert!(!fits(json!({"nodeSelector": {"zone": "a", "disk": "ssd"}})));
        let term = |term: Value| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{}, term]}}}})
        };
        for (key, operator, values, expected) in [
            ("zone", "In", vec!["a", "b"], true),
            ("zone", "NotIn", vec!["a"], false),
            ("disk", "Exists", vec![], false),
            ("disk", "DoesNotExist", vec![], true),
            ("cpus", "Gt", vec!["4"], true),
            ("cpus", "Lt", vec!["4"], false),
            ("cpus", "Odd", vec![], false),
        ] {
            let expression = json!({"key": key, "operator": operator, "values": values});
            let found = fits(term(json!({"matchExpressions": [expression]})));
            assert_eq!(found, expected, "{operator}");
        }
        let field = |name: &str| {
            term(
                json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}),
            )
        };
        assert!(fits(field("n")) && !fits(field("m")));
    }

    #[test]
    fn the_message_is_that_of_the_scheduler() {
        use FilterReason::{Selector, Unschedulable};
        assert_eq!(
            unschedulable(&[Selector, Unschedulable, Selector]),
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
        assert_eq!(unschedulable(&[]), "no nodes available to schedule pods");
    }
}
