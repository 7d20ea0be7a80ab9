//! JSON patches, with limits.
//!
//! A few `copy` operations can double an object until memory or stack is exhausted, so the result
//! of each operation is measured.

use json_patch::{Patch, PatchOperation, patch};
use serde_json::Value;

use crate::status::ApiError;

/// The API server's limit.
const MAX_OPERATIONS: usize = 10_000;
const MAX_DEPTH: usize = 128;
const MAX_NODES: usize = 500_000;

pub(super) fn parse(body: Value) -> Result<Patch, ApiError> {
    let patch: Patch = serde_json::from_value(body)
        .map_err(|e| ApiError::bad_request(format!("error decoding patch: {e}")))?;
    if patch.0.len() > MAX_OPERATIONS {
        return Err(ApiError::bad_request(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            patch.0.len()
        )));
    }
    Ok(patch)
}

/// Applies the operations in order; after an error `value` is undefined.
pub(super) fn apply(value: &mut Value, operations: &Patch) -> Result<(), ApiError> {
    for operation in &operations.0 {
        let pointer_depth = operation.path().tokens().count();
        if pointer_depth > MAX_DEPTH {
            return Err(ApiError::patch_rejected());
        }
        // A missing value equals null: clients test for that before they add.
        if let PatchOperation::Test(test) = operation
            && test.value.is_null()
            && value.pointer(test.path.as_str()).is_none()
        {
            continue;
        }
        patch(value, std::slice::from_ref(operation)).map_err(|_| ApiError::patch_rejected())?;
        let grows = !matches!(
            operation,
            PatchOperation::Test(_) | PatchOperation::Remove(_)
        );
        if grows && measure(value, MAX_DEPTH, MAX_NODES).is_none() {
            return Err(ApiError::patch_rejected());
        }
    }
    Ok(())
}

/// The remaining nodes, or `None` if the value is too deep or too large.
fn measure(value: &Value, depth: usize, nodes: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let mut left = nodes.checked_sub(1)?;
    match value {
        Value::Array(list) => {
            for item in list {
                left = measure(item, depth, left)?;
            }
        }
        Value::Object(map) => {
            for item in map.values() {
                left = measure(item, depth, left)?;
            }
        }
        // Long strings count as several nodes.
        Value::String(text) => left = left.checked_sub(text.len() / 64)?,
        _ => {}
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operations_apply_in_order() {
        let mut doc = json!({"a": {"b": 1}});
        let patch = parse(json!([
            {"op": "test", "path": "/a/b", "value": 1},
            {"op": "replace", "path": "/a/b", "value": 2},
            {"op": "add", "path": "/c", "value": []},
        ]));
        apply(&mut doc, &patch.unwrap()).unwrap();
        assert_eq!(doc, json!({"a": {"b": 2}, "c": []}));
    }

    #[test]
    fn a_failing_test_is_refused() {
        let mut doc = json!({"a": 1});
        let patch = parse(json!([{"op": "test", "path": "/a", "value": 2}])).unwrap();
        assert_eq!(apply(&mut doc, &patch).unwrap_err().code(), 422);
        assert_eq!(parse(json!({"op": "add"})).unwrap_err().code(), 400);
    }

    #[test]
    fn missing_values_equal_null() {
        let mut doc = json!({"metadata": {}});
        let patch = parse(json!([
            {"op": "test", "path": "/metadata/finalizers", "value": null},
            {"op": "add", "path": "/metadata/finalizers", "value": ["a/b"]},
        ]));
        apply(&mut doc, &patch.unwrap()).unwrap();
        assert_eq!(doc, json!({"metadata": {"finalizers": ["a/b"]}}));
    }

    #[test]
    fn repeated_doubling_is_refused() {
        let mut doc = json!({"a": [1, 2, 3, 4]});
        let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let patch = parse(Value::from(vec![double; 64])).unwrap();
        assert!(apply(&mut doc, &patch).is_err());
    }
}
