//! Metadata of objects that were exported from a cluster.

use super::editor::Editor;
use super::kind::convert_reference;
use serde_json::Value;

/// Fields that the API server sets. An object that has the identity of another cannot be applied.
const SET_BY_SERVER: [&str; 6] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

pub(super) fn convert(object: &mut Value, editor: &mut Editor) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        let metadata = object.get("metadata").cloned().unwrap_or_default();
        editor.invalid("metadata", &metadata, "must be an object with a name");
        return;
    };
    // YAML reads a name of digits as a number, and a long one is no longer exact.
    if let Some(name) = metadata.get("name").filter(|name| !name.is_string()) {
        editor.invalid(
            "metadata.name",
            name,
            "must be a string; write it in quotes",
        );
    }
    for field in SET_BY_SERVER {
        if metadata.get(field).is_some_and(|value| !value.is_null()) {
            let old = metadata.remove(field);
            editor.record(format!("metadata.{field}"), old, None);
        }
    }
    let owners = editor.list_at(metadata, "metadata", "ownerReferences");
    for (i, owner) in owners.iter_mut().enumerate() {
        convert_reference(owner, &format!("metadata.ownerReferences[{i}]."), editor);
    }
}
