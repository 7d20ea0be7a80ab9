//! Pods from templates, and the hashes by which templates are compared.

use serde_json::Value;

use crate::names::safe_encode;
use crate::object::{Object, at, child, is_empty, name, namespace};

/// A template without empty fields and without its hash label. Two templates are the same if these are
/// equal.
pub(super) fn normalized(template: &Value, hash_label: &str) -> Value {
    let mut template = template.clone();
    if let Some(Value::Object(labels)) = template.pointer_mut("/metadata/labels") {
        labels.remove(hash_label);
    }
    prune(&mut template);
    template
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(prune);
            map.retain(|_, value| !is_empty(value));
        }
        Value::Array(list) => list.iter_mut().for_each(prune),
        _ => {}
    }
}

/// The hash of a normalized template.
pub(super) fn hash(template: &Value) -> String {
    // Maps are sorted, so equal templates have equal texts.
    let number = template
        .to_string()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
    safe_encode(number.to_string().as_bytes())
}

pub(super) fn from_template(template: &Value, namespace: &str) -> Object {
    let mut pod = Object::new();
    let meta = child(&mut pod, "metadata");
    meta.insert("namespace".to_owned(), Value::from(namespace));
    for key in ["labels", "annotations", "finalizers"] {
        let given = template.get("metadata").and_then(|m| m.get(key));
        if let Some(given) = given.filter(|given| !given.is_null()) {
            meta.insert(key.to_owned(), given.clone());
        }
    }
    let spec = template.get("spec").cloned().unwrap_or_default();
    pod.insert("spec".to_owned(), spec);
    pod
}

/// A pod from a workload's template, with a generated name.
pub(super) fn new_pod(workload: &Object) -> Object {
    let template = at(workload, &["spec", "template"]).unwrap_or(&Value::Null);
    let mut pod = from_template(template, namespace(workload));
    let generate_name = format!("{}-", name(workload));
    child(&mut pod, "metadata").insert("generateName".to_owned(), generate_name.into());
    pod
}

pub(super) fn set_label(object: &mut Object, key: &str, value: &str) {
    let labels = child(child(object, "metadata"), "labels");
    labels.insert(key.to_owned(), Value::from(value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn empty_fields_make_no_difference() {
        let one = json!({"metadata": {"labels": {"a": "b", "h": "x"}, "creationTimestamp": null},
            "spec": {"containers": [{"name": "c", "resources": {}}], "volumes": []}});
        let other =
            json!({"spec": {"containers": [{"name": "c"}]}, "metadata": {"labels": {"a": "b"}}});
        let (one, other) = (normalized(&one, "h"), normalized(&other, "h"));
        assert_eq!(one, other);
        assert_eq!(hash(&one), hash(&other));
        let third = json!({"spec": {"containers": [{"name": "d"}]}});
        assert_ne!(hash(&one), hash(&normalized(&third, "h")));
    }

    #[test]
    fn a_hash_is_a_label_of_safe_letters() {
        let text = hash(&json!({"a": 1}));
        assert!(crate::names::is_label(&text), "{text}");
        assert!(!text.contains(['a', 'e', 'i', 'o', 'u', '0', '1', '3']));
        // It is the same in every process, because it is part of the names of ReplicaSets.
        assert_eq!(hash(&json!({})), hash(&json!({})));
    }

    #[test]
    fn a_pod_follows_its_template() {
        let template = json!({
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}, "name": "no", "creationTimestamp": null},
            "spec": {"containers": []},
        });
        let expected = json!({
            "metadata": {"namespace": "n", "labels": {"a": "b"}, "annotations": {"c": "d"}},
            "spec": {"containers": []},
        });
        assert_eq!(Value::Object(from_template(&template, "n")), expected);
    }
}
