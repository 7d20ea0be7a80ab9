//! `metadata.ownerReferences`.

use serde_json::{Value, json};

use crate::object::{Object, child, items, string};
use crate::resources::Kind;
use crate::store::Stored;

/// The uid of an object's controller.
pub(super) fn controller_uid(object: &Object) -> Option<&str> {
    items(object, &["metadata", "ownerReferences"])
        .find(|reference| reference.get("controller") == Some(&Value::Bool(true)))?
        .get("uid")?
        .as_str()
}

/// The reference that makes `owner` the controller of another object.
pub(super) fn controller_reference(kind: &Kind, owner: &Stored) -> Value {
    json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "name": owner.name,
        "uid": owner.uid(), "controller": true, "blockOwnerDeletion": true,
    })
}

pub(super) fn with_owner(object: &Object, reference: Value) -> Object {
    let mut next = object.clone();
    let references = child(&mut next, "metadata")
        .entry("ownerReferences")
        .or_insert_with(|| json!([]));
    match references {
        Value::Array(list) => list.push(reference),
        other => *other = json!([reference]),
    }
    next
}

pub(super) fn without_owners(object: &Object, uids: &[String]) -> Object {
    let mut next = object.clone();
    let meta = child(&mut next, "metadata");
    if let Some(Value::Array(list)) = meta.get_mut("ownerReferences") {
        list.retain(|reference| !uids.iter().any(|uid| uid == string(reference, "uid")));
        if list.is_empty() {
            meta.remove("ownerReferences");
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn an_owner_that_is_not_the_controller_does_not_count() {
        let owned = object(json!({"metadata": {"ownerReferences": [{"uid": "o"}]}}));
        assert_eq!(controller_uid(&owned), None);
        let both = with_owner(&owned, json!({"uid": "p", "controller": true}));
        assert_eq!(controller_uid(&both), Some("p"));
    }
}
