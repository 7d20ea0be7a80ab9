//! The versions of a Deployment's template: a ReplicaSet for each, and numbers in annotations.

use serde_json::{Value, json};

use super::set::{DESIRED, MAX, REVISION, REVISION_HISTORY, Set, Strategy};
use crate::agents::pods::{number, set_label};
use crate::agents::template::{essence, hash};
use crate::object::{Object, at, child, name, namespace, object, text};

/// Names the template of a ReplicaSet and its pods.
pub(super) const HASH: &str = "pod-template-hash";

/// Annotations of a Deployment that its ReplicaSets do not share.
const OWN_ANNOTATIONS: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    REVISION_HISTORY,
    DESIRED,
    MAX,
];

/// How long the history in an annotation gets.
const HISTORY_LENGTH: usize = 2000;

/// The ReplicaSet of a Deployment's template; of several the oldest.
pub(super) fn current(deployment: &Object, sets: &[Set]) -> Option<usize> {
    let wanted = essence(at(deployment, &["spec", "template"])?, HASH);
    let same = |set: &Set| set.template().is_some_and(|t| essence(t, HASH) == wanted);
    let all = sets.iter().enumerate().filter(|(_, set)| same(set));
    all.min_by_key(|(_, set)| set.age()).map(|(index, _)| index)
}

/// Whether a ReplicaSet, which has the name that a new one would have, is the new one.
pub(super) fn is_current(deployment: &Object, set: &Object) -> bool {
    let template = |of| at(of, &["spec", "template"]).map(|t| essence(t, HASH));
    template(deployment).is_some() && template(deployment) == template(set)
}

/// A ReplicaSet for a Deployment's template, without pods yet.
pub(super) fn new_set(deployment: &Object, collisions: Option<i64>, revision: i64) -> Object {
    let spec = |key| at(deployment, &["spec", key]).cloned().unwrap_or_default();
    let template = spec("template");
    let hash = hash(&essence(&template, HASH), collisions);
    let mut template = object(template);
    set_label(&mut template, HASH, &hash);
    let mut selector = object(spec("selector"));
    child(&mut selector, "matchLabels").insert(HASH.to_owned(), hash.clone().into());
    let labels = at(&template, &["metadata", "labels"]).cloned();
    let mut set = object(json!({
        "metadata": {
            "name": format!("{}-{hash}", name(deployment)), "namespace": namespace(deployment),
            "labels": labels,
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    }));
    let seconds = number(deployment, &["spec", "minReadySeconds"], 0);
    if seconds > 0 {
        child(&mut set, "spec").insert("minReadySeconds".to_owned(), seconds.into());
    }
    annotate(deployment, &mut set, revision);
    set
}

/// Gives the current ReplicaSet its number, its Deployment's annotations and readiness.
pub(super) fn annotate(deployment: &Object, set: &mut Object, revision: i64) {
    let given = at(deployment, &["metadata", "annotations"]).and_then(Value::as_object);
    let shared = given
        .into_iter()
        .flatten()
        .filter(|(key, _)| !OWN_ANNOTATIONS.contains(&key.as_str()));
    let annotations = child(child(set, "metadata"), "annotations");
    for (key, value) in shared {
        annotations.insert(key.clone(), value.clone());
    }
    let before = annotations
        .get(REVISION)
        .and_then(Value::as_str)
        .map(str::to_owned);
    let number_before = before.as_deref().and_then(|n| n.parse().ok()).unwrap_or(0);
    if number_before < revision {
        annotations.insert(REVISION.to_owned(), revision.to_string().into());
        if let Some(before) = before {
            let history = annotations.get(REVISION_HISTORY).and_then(Value::as_str);
            let history = with_history(history.unwrap_or_default(), &before);
            annotations.insert(REVISION_HISTORY.to_owned(), history.into());
        }
    }
    let seconds = number(deployment, &["spec", "minReadySeconds"], 0);
    if number(set, &["spec", "minReadySeconds"], 0) != seconds {
        child(set, "spec").insert("minReadySeconds".to_owned(), seconds.into());
    }
}

/// Appends a number to a history; the oldest give way.
fn with_history(history: &str, number: &str) -> String {
    let mut numbers: Vec<&str> = history.split(',').filter(|n| !n.is_empty()).collect();
    numbers.push(number);
    while numbers.len() > 1 && numbers.iter().map(|n| n.len() + 1).sum::<usize>() > HISTORY_LENGTH {
        numbers.remove(0);
    }
    numbers.join(",")
}

/// The ReplicaSet, resized.
pub(super) fn resized(set: &Object, size: i64, strategy: Strategy) -> Object {
    let mut next = set.clone();
    child(&mut next, "spec").insert("replicas".to_owned(), size.into());
    let annotations = child(child(&mut next, "metadata"), "annotations");
    annotations.insert(DESIRED.to_owned(), strategy.replicas.to_string().into());
    annotations.insert(MAX.to_owned(), strategy.most().to_string().into());
    next
}

/// The old ReplicaSets that nobody needs to go back to, by index: but for as many as are kept.
pub(super) fn outlived(deployment: &Object, old: &[Set]) -> Vec<usize> {
    let kept = number(deployment, &["spec", "revisionHistoryLimit"], 10);
    if kept == i64::from(i32::MAX) {
        return Vec::new();
    }
    let leaving = |set: &Set| crate::object::is_deleting(&set.stored.object);
    let mut order: Vec<usize> = (0..old.len())
        .filter(|index| old.get(*index).is_some_and(|set| !leaving(set)))
        .collect();
    order.sort_by_key(|index| old.get(*index).map(|set| (set.revision, set.age())));
    let kept = usize::try_from(kept).unwrap_or(0);
    order.truncate(order.len().saturating_sub(kept));
    order.retain(|index| {
        old.get(*index).is_some_and(|set| {
            let seen = number(&set.stored.object, &["status", "observedGeneration"], 0);
            let is_seen = seen >= crate::object::generation(&set.stored.object);
            set.replicas == 0 && set.actual == 0 && is_seen
        })
    });
    order
}

/// The Deployment with the number of its current template; as it was where it has it.
pub(super) fn numbered(deployment: &Object, revision: &str) -> Object {
    let mut next = deployment.clone();
    if text(deployment, &["metadata", "annotations", REVISION]) != Some(revision) {
        let annotations = child(child(&mut next, "metadata"), "annotations");
        annotations.insert(REVISION.to_owned(), revision.into());
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Stored;
    use std::sync::Arc;

    fn deployment(image: &str) -> Object {
        object(json!({
            "metadata": {"name": "web", "namespace": "d", "annotations": {
                "note": "x", REVISION: "4", "kubernetes.io/change-cause": "why",
            }},
            "spec": {
                "minReadySeconds": 5, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "c", "image": image}]}},
            },
        }))
    }

    fn set(mut body: Object, name: &str, revision: i64) -> Set {
        child(&mut body, "metadata").insert("name".to_owned(), name.into());
        let annotations = child(child(&mut body, "metadata"), "annotations");
        annotations.insert(REVISION.to_owned(), revision.to_string().into());
        Set::of(&Arc::new(Stored::new(body, 1)))
    }

    #[test]
    fn a_template_finds_its_set_again() {
        let made = new_set(&deployment("a"), None, 1);
        let hash = made["metadata"]["labels"][HASH].as_str().unwrap();
        assert_eq!(made["metadata"]["name"], format!("web-{hash}"));
        assert_eq!(made["spec"]["selector"]["matchLabels"][HASH], hash);
        assert_eq!(made["spec"]["template"]["metadata"]["labels"][HASH], hash);
        assert_eq!(made["metadata"]["annotations"][REVISION], "1");
        assert_eq!(made["metadata"]["annotations"]["note"], "x");
        assert_eq!(made["spec"]["minReadySeconds"], 5);
        assert!(is_current(&deployment("a"), &made) && !is_current(&deployment("b"), &made));
        let other = set(new_set(&deployment("b"), None, 2), "b", 2);
        let sets = [other, set(made.clone(), "a", 1)];
        assert_eq!(current(&deployment("a"), &sets), Some(1));
        assert_eq!(current(&deployment("c"), &sets), None);
        let collided = new_set(&deployment("a"), Some(1), 1);
        assert_ne!(collided["metadata"]["name"], made["metadata"]["name"]);
    }

    #[test]
    fn a_version_that_comes_back_gets_a_new_number() {
        let mut back = new_set(&deployment("a"), None, 1);
        annotate(&deployment("a"), &mut back, 3);
        assert_eq!(back["metadata"]["annotations"][REVISION], "3");
        assert_eq!(back["metadata"]["annotations"][REVISION_HISTORY], "1");
        annotate(&deployment("a"), &mut back, 5);
        assert_eq!(back["metadata"]["annotations"][REVISION_HISTORY], "1,3");
        let same = back.clone();
        annotate(&deployment("a"), &mut back, 5);
        assert_eq!(back, same);
        let long = (0..1000).fold(String::new(), |history, n| {
            with_history(&history, &n.to_string())
        });
        assert!(long.len() <= HISTORY_LENGTH && long.ends_with(",999"));
    }

    #[test]
    fn old_versions_are_forgotten_but_for_a_few() {
        let empty = |name, revision| set(object(json!({"spec": {"replicas": 0}})), name, revision);
        let busy = set(object(json!({"spec": {"replicas": 1}})), "busy", 1);
        let old = [empty("c", 4), busy, empty("b", 3), empty("a", 2)];
        let limited = |limit: i64| {
            let deployment = object(json!({"spec": {"revisionHistoryLimit": limit}}));
            outlived(&deployment, &old)
        };
        assert_eq!(limited(2), [3]);
        assert_eq!(limited(0), [3, 2, 0]);
        assert_eq!(limited(10), [0_usize; 0]);
        assert_eq!(limited(i32::MAX.into()), [0_usize; 0]);
    }
}
