//! The revisions of a Deployment's template: a ReplicaSet for each, numbered by annotations.

use serde_json::json;

use super::scale::{REVISION, ReplicaSet};
use crate::controllers::template::{hash, normalized, set_label};
use crate::object::{
    Object, at, child, entries, generation, is_deleting, name, namespace, number, object, text,
};

/// The label with the hash of the template.
const HASH: &str = "pod-template-hash";

/// The annotations that are not copied from a Deployment to its ReplicaSets.
const OWN_ANNOTATIONS: [&str; 4] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    "deployment.kubernetes.io/revision-history",
    REVISION,
];

/// The index of the first ReplicaSet with the Deployment's template.
pub(super) fn current(deployment: &Object, sets: &[ReplicaSet]) -> Option<usize> {
    sets.iter()
        .position(|set| is_current(deployment, &set.stored.object))
}

/// A ReplicaSet has the template of the Deployment.
pub(super) fn is_current(deployment: &Object, set: &Object) -> bool {
    let template = |of| at(of, &["spec", "template"]).map(|t| normalized(t, HASH));
    template(deployment).is_some() && template(deployment) == template(set)
}

/// A ReplicaSet of size 0 with the Deployment's template.
pub(super) fn new_replica_set(deployment: &Object, revision: i64) -> Object {
    let spec = |key| at(deployment, &["spec", key]).cloned().unwrap_or_default();
    let template = spec("template");
    let hash = hash(&normalized(&template, HASH));
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
    annotate(deployment, &mut set, revision);
    set
}

/// Copies annotations and `minReadySeconds` from the Deployment, and sets the revision.
pub(super) fn annotate(deployment: &Object, set: &mut Object, revision: i64) {
    let shared = entries(deployment, &["metadata", "annotations"])
        .filter(|(key, _)| !OWN_ANNOTATIONS.contains(&key.as_str()));
    let annotations = child(child(set, "metadata"), "annotations");
    for (key, value) in shared {
        annotations.insert(key.clone(), value.clone());
    }
    let before = text(annotations, &[REVISION]).and_then(|number| number.parse().ok());
    if before.unwrap_or(0) < revision {
        annotations.insert(REVISION.to_owned(), revision.to_string().into());
    }
    let seconds = number(deployment, &["spec", "minReadySeconds"], 0);
    if number(set, &["spec", "minReadySeconds"], 0) != seconds {
        child(set, "spec").insert("minReadySeconds".to_owned(), seconds.into());
    }
}

pub(super) fn resized(set: &Object, size: i64) -> Object {
    let mut next = set.clone();
    child(&mut next, "spec").insert("replicas".to_owned(), size.into());
    next
}

/// The old ReplicaSets to delete: the oldest beyond `spec.revisionHistoryLimit`, if they are empty.
pub(super) fn beyond_history<'s>(
    deployment: &Object,
    old: &'s [ReplicaSet],
) -> Vec<&'s ReplicaSet> {
    let limit = number(deployment, &["spec", "revisionHistoryLimit"], 10);
    if limit == i64::from(i32::MAX) {
        return Vec::new();
    }
    let kept = old.iter().filter(|set| !is_deleting(&set.stored.object));
    let mut sets: Vec<&ReplicaSet> = kept.collect();
    sets.sort_by_key(|set| (set.revision, set.age()));
    sets.truncate(
        sets.len()
            .saturating_sub(usize::try_from(limit).unwrap_or(0)),
    );
    sets.retain(|set| {
        let object = &set.stored.object;
        let observed = number(object, &["status", "observedGeneration"], 0);
        set.replicas == 0 && set.actual == 0 && observed >= generation(object)
    });
    sets
}

/// The Deployment with the number of its current revision.
pub(super) fn with_revision(deployment: &Object, revision: &str) -> Object {
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

    fn set(mut body: Object, name: &str, revision: i64) -> ReplicaSet {
        child(&mut body, "metadata").insert("name".to_owned(), name.into());
        let annotations = child(child(&mut body, "metadata"), "annotations");
        annotations.insert(REVISION.to_owned(), revision.to_string().into());
        ReplicaSet::of(&Arc::new(Stored::new(body, 1)))
    }

    #[test]
    fn a_template_has_one_replica_set() {
        let created = new_replica_set(&deployment("a"), 1);
        let hash = created["metadata"]["labels"][HASH].as_str().unwrap();
        assert_eq!(created["metadata"]["name"], format!("web-{hash}"));
        assert_eq!(created["spec"]["selector"]["matchLabels"][HASH], hash);
        assert_eq!(
            created["spec"]["template"]["metadata"]["labels"][HASH],
            hash
        );
        assert_eq!(created["metadata"]["annotations"][REVISION], "1");
        assert_eq!(created["metadata"]["annotations"]["note"], "x");
        assert_eq!(created["spec"]["minReadySeconds"], 5);
        assert!(is_current(&deployment("a"), &created) && !is_current(&deployment("b"), &created));
        let other = set(new_replica_set(&deployment("b"), 2), "b", 2);
        let sets = [other, set(created.clone(), "a", 1)];
        assert_eq!(current(&deployment("a"), &sets), Some(1));
        assert_eq!(current(&deployment("c"), &sets), None);
    }

    #[test]
    fn a_rollback_gets_a_new_number() {
        let mut back = new_replica_set(&deployment("a"), 1);
        annotate(&deployment("a"), &mut back, 3);
        assert_eq!(back["metadata"]["annotations"][REVISION], "3");
        let same = back.clone();
        annotate(&deployment("a"), &mut back, 2);
        assert_eq!(back, same);
    }

    #[test]
    fn old_revisions_beyond_the_limit_are_deleted() {
        let empty = |name, revision| set(object(json!({"spec": {"replicas": 0}})), name, revision);
        let busy = set(object(json!({"spec": {"replicas": 1}})), "busy", 1);
        let old = [empty("c", 4), busy, empty("b", 3), empty("a", 2)];
        let limited = |limit: i64| {
            let deployment = object(json!({"spec": {"revisionHistoryLimit": limit}}));
            beyond_history(&deployment, &old)
                .iter()
                .map(|set| set.stored.name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(limited(2), ["a"]);
        assert_eq!(limited(0), ["a", "b", "c"]);
        assert_eq!(limited(10), [""; 0]);
        assert_eq!(limited(i32::MAX.into()), [""; 0]);
    }
}
