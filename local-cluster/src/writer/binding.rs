//! Binds pods to nodes.

use serde_json::{Value, json};

use super::{ATTEMPTS, Cluster, or_stale};
use crate::clock;
use crate::object::{self, Object, child, text};
use crate::resources::Kind;
use crate::status::ApiError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) node: String,
    /// A precondition on the pod.
    pub(crate) uid: Option<String>,
    pub(crate) annotations: Object,
}

impl Cluster {
    pub(crate) fn bind(
        &self,
        pods: &Kind,
        (namespace, name): (&str, &str),
        binding: &Binding,
        dry_run: bool,
    ) -> Result<(), ApiError> {
        for _ in 0..ATTEMPTS {
            let current = self.read(pods, namespace, name)?;
            let next = bound(&current.object, binding, &clock::now())
                .map_err(|why| ApiError::binding_conflict(name, &why))?;
            if dry_run {
                return Ok(());
            }
            let result = self.store.replace(&pods.storage, &current, next);
            if or_stale(result)?.is_some() {
                return Ok(());
            }
        }
        Err(ApiError::modified(pods, name))
    }
}

/// The bound pod, or why it cannot be bound.
fn bound(pod: &Object, binding: &Binding, now: &str) -> Result<Object, String> {
    let name = object::name(pod);
    if let Some(uid) = binding
        .uid
        .as_deref()
        .filter(|uid| *uid != object::uid(pod))
    {
        return Err(format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            object::uid(pod)
        ));
    }
    if object::is_deleting(pod) {
        return Err(format!(
            "pod {name} is being deleted, cannot be assigned to a host"
        ));
    }
    if let Some(node) = text(pod, &["spec", "nodeName"]).filter(|node| !node.is_empty()) {
        return Err(format!("pod {name} is already assigned to node {node:?}"));
    }
    let mut next = pod.clone();
    child(&mut next, "spec").insert("nodeName".to_owned(), binding.node.as_str().into());
    if !binding.annotations.is_empty() {
        let annotations = child(child(&mut next, "metadata"), "annotations");
        annotations.append(&mut binding.annotations.clone());
    }
    let condition = json!({
        "type": "PodScheduled", "status": "True",
        "lastProbeTime": null, "lastTransitionTime": now,
    });
    let conditions = child(&mut next, "status")
        .entry("conditions")
        .or_insert_with(|| json!([]));
    if let Value::Array(conditions) = conditions {
        conditions.retain(|c| c.get("type") != Some(&json!("PodScheduled")));
        conditions.push(condition);
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn a_pod_is_bound_once() {
        let binding = Binding {
            node: "n".to_owned(),
            uid: None,
            annotations: object(json!({"a": "b"})),
        };
        let pod = object(json!({"metadata": {"name": "p", "uid": "u"}, "spec": {}, "status": {}}));
        let next = bound(&pod, &binding, "now").unwrap();
        assert_eq!(next["spec"]["nodeName"], "n");
        assert_eq!(next["metadata"]["annotations"], json!({"a": "b"}));
        assert_eq!(next["status"]["conditions"][0]["type"], "PodScheduled");
        assert_eq!(
            bound(&next, &binding, "now").unwrap_err(),
            "pod p is already assigned to node \"n\""
        );
        let other = Binding {
            uid: Some("v".to_owned()),
            ..binding.clone()
        };
        assert!(bound(&pod, &other, "now").is_err());
        let mut deleting = pod;
        deleting["metadata"]["deletionTimestamp"] = json!("t");
        assert!(bound(&deleting, &binding, "now").is_err());
    }
}
