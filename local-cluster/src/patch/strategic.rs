//! Strategic merge patches, which merge some lists item by item.
//!
//! `kubectl apply` and `kubectl patch` send them for built-in kinds. The keys of lists are part of
//! Kubernetes' types.

use serde_json::Value;

use super::layout::{ListRule, strategic_rule};
use crate::object::Object;

const ORDER: &str = "$setElementOrder/";
const DELETE_PRIMITIVE: &str = "$deleteFromPrimitiveList/";

pub(crate) fn merge(document: &mut Value, patch: &Object) {
    merge_map(document, patch, "");
}

fn merge_map(document: &mut Value, patch: &Object, parent: &str) {
    match patch.get("$patch").and_then(Value::as_str) {
        Some("replace") => {
            *document = Value::Object(without_directives(patch));
            return;
        }
        Some("delete") => {
            *document = Value::Object(Object::new());
            return;
        }
        _ => {}
    }
    if !document.is_object() {
        *document = Value::Object(Object::new());
    }
    let Value::Object(map) = document else { return };
    if let Some(Value::Array(keep)) = patch.get("$retainKeys") {
        map.retain(|key, _| keep.iter().any(|k| k.as_str() == Some(key)));
    }
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix(DELETE_PRIMITIVE) {
            if let (Some(Value::Array(items)), Value::Array(removed)) = (map.get_mut(list), value) {
                items.retain(|item| !removed.contains(item));
            }
            continue;
        }
        if let Some(list) = key.strip_prefix(ORDER) {
            // If the patch has items, merging them applies the order.
            if !patch.contains_key(list) {
                reorder(map, parent, list, value);
            }
            continue;
        }
        if key.starts_with('$') {
            continue;
        }
        match value {
            Value::Null => {
                map.remove(key);
            }
            Value::Object(inner) => {
                let slot = map.entry(key.as_str()).or_insert(Value::Null);
                merge_map(slot, inner, key);
            }
            Value::Array(items) => {
                let order = patch.get(&format!("{ORDER}{key}"));
                let slot = map.entry(key.as_str()).or_insert(Value::Null);
                merge_list(slot, items, order, strategic_rule(parent, key), key);
            }
            plain => {
                map.insert(key.clone(), plain.clone());
            }
        }
    }
}

fn without_directives(patch: &Object) -> Object {
    patch
        .iter()
        .filter(|(key, value)| !key.starts_with('$') && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn merge_list(
    slot: &mut Value,
    items: &[Value],
    order: Option<&Value>,
    rule: ListRule,
    field: &str,
) {
    let replaces = items
        .iter()
        .any(|i| i.get("$patch").and_then(Value::as_str) == Some("replace"));
    let plain = || {
        items
            .iter()
            .filter(|i| i.get("$patch").is_none())
            .cloned()
            .collect::<Vec<_>>()
    };
    let existing = match slot {
        Value::Array(existing) if !replaces => std::mem::take(existing),
        _ => Vec::new(),
    };
    let merged = match rule {
        ListRule::Atomic => plain(),
        ListRule::Set => {
            let mut set = existing;
            for item in items {
                if !set.contains(item) {
                    set.push(item.clone());
                }
            }
            set
        }
        ListRule::Keyed(keys) => {
            let key = keys.first().copied().unwrap_or_default();
            merge_keyed(existing, items, order, key, field)
        }
    };
    *slot = Value::Array(merged);
}

fn merge_keyed(
    existing: Vec<Value>,
    items: &[Value],
    order: Option<&Value>,
    key: &str,
    field: &str,
) -> Vec<Value> {
    let server_order: Vec<Value> = existing
        .iter()
        .filter_map(|i| i.get(key).cloned())
        .collect();
    let mut merged = existing;
    let mut patch_order = Vec::new();
    for item in items {
        let (Some(id), Value::Object(change)) = (item.get(key), item) else {
            // An item without its key matches nothing; validation refuses it later.
            if item.get("$patch").is_none() {
                merged.push(item.clone());
            }
            continue;
        };
        if change.get("$patch").and_then(Value::as_str) == Some("delete") {
            merged.retain(|m| m.get(key) != Some(id));
            continue;
        }
        patch_order.push(id.clone());
        match merged.iter_mut().find(|m| m.get(key) == Some(id)) {
            Some(found) => merge_map(found, change, field),
            None => {
                let mut new = Value::Null;
                merge_map(&mut new, change, field);
                merged.push(new);
            }
        }
    }
    if let Some(Value::Array(order)) = order {
        patch_order = order.iter().filter_map(|o| o.get(key).cloned()).collect();
    }
    in_order(merged, key, &patch_order, &server_order)
}

/// Merges the order of the patch with the live order of the other items.
fn in_order(merged: Vec<Value>, key: &str, patch: &[Value], server: &[Value]) -> Vec<Value> {
    let position = |order: &[Value], item: &Value| {
        let id = item.get(key)?;
        order.iter().position(|o| o == id)
    };
    let (mut ours, theirs): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| position(patch, item).is_some());
    ours.sort_by_key(|item| position(patch, item));
    let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
    let mut result = Vec::new();
    while let (Some(our), Some(their)) = (ours.peek(), theirs.peek()) {
        let their_first = match (position(server, their), position(server, our)) {
            (Some(their), Some(our)) => their < our,
            _ => false,
        };
        result.extend(if their_first {
            theirs.next()
        } else {
            ours.next()
        });
    }
    result.extend(ours);
    result.extend(theirs);
    result
}

fn reorder(map: &mut Object, parent: &str, field: &str, order: &Value) {
    let (ListRule::Keyed([key, ..]), Some(Value::Array(items)), Value::Array(order)) =
        (strategic_rule(parent, field), map.get_mut(field), order)
    else {
        return;
    };
    let server: Vec<Value> = items.iter().filter_map(|i| i.get(key).cloned()).collect();
    let desired: Vec<Value> = order.iter().filter_map(|o| o.get(key).cloned()).collect();
    *items = in_order(std::mem::take(items), key, &desired, &server);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn merged(mut document: Value, patch: Value) -> Value {
        merge(&mut document, &object(patch));
        document
    }

    #[test]
    fn conditions_are_merged_by_type() {
        let pod = json!({"status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "reason": "r"}, {"type": "Initialized", "status": "True"}]}});
        let out = merged(
            pod,
            json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": null}]}}),
        );
        assert_eq!(
            out["status"]["conditions"],
            json!([{"type": "Ready", "status": "False"}, {"type": "Initialized", "status": "True"}])
        );
    }

    #[test]
    fn new_items_come_first_without_an_order() {
        let out = merged(
            json!({"status": {"conditions": [{"type": "Ready"}]}}),
            json!({"status": {"conditions": [{"type": "ContainersReady"}]}}),
        );
        assert_eq!(
            out["status"]["conditions"],
            json!([{"type": "ContainersReady"}, {"type": "Ready"}])
        );
    }

    #[test]
    fn items_can_be_ordered_and_deleted() {
        let out = merged(
            json!({"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b"}]}}),
            json!({"spec": {
                "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
                "containers": [{"name": "c"}, {"name": "b", "$patch": "delete"}]}}),
        );
        assert_eq!(
            out["spec"]["containers"],
            json!([{"name": "c"}, {"name": "a", "image": "1"}])
        );
    }

    #[test]
    fn maps_and_plain_lists_follow_their_directives() {
        let out = merged(
            json!({"a": {"x": 1, "y": 2}, "args": [1, 2], "metadata": {"finalizers": ["f", "g"]}}),
            json!({"a": {"$patch": "replace", "z": 3}, "args": [3],
                   "metadata": {"finalizers": ["h"], "$deleteFromPrimitiveList/finalizers": ["f"]}}),
        );
        assert_eq!(out["a"], json!({"z": 3}));
        assert_eq!(out["args"], json!([3]));
        let mut finalizers: Vec<_> = out["metadata"]["finalizers"].as_array().unwrap().clone();
        finalizers.sort_by_key(ToString::to_string);
        assert_eq!(finalizers, [json!("g"), json!("h")]);
    }
}
