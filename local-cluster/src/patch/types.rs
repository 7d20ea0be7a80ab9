//! The patch types besides server-side apply. JSON patches have limits.

use json_patch::PatchOperation;
use serde_json::Value;

use crate::object::Object;
use crate::status::ApiError;

/// The API server's limit.
const MAX_OPERATIONS: usize = 10_000;
const MAX_DEPTH: usize = 128;
const MAX_NODES: usize = 500_000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Patch {
    /// A JSON patch (RFC 6902); an operation that is none fails when it is applied.
    Json(Vec<Option<PatchOperation>>),
    /// A JSON merge patch (RFC 7396).
    Merge(Object),
    /// A strategic merge patch, which merges lists by keys.
    Strategic(Object),
}

impl Patch {
    /// Decodes a JSON patch.
    pub(crate) fn json(body: Value) -> Result<Self, ApiError> {
        let operations = match body {
            Value::Array(operations) => operations,
            Value::Null => Vec::new(),
            other => {
                return Err(ApiError::undecodable_patch(
                    &other,
                    "[]handlers.jsonPatchOp",
                ));
            }
        };
        let count = operations.len();
        if count > MAX_OPERATIONS {
            return Err(ApiError::bad_request(format!(
                "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}"
            )));
        }
        let decoded = |operation| serde_json::from_value(operation).ok();
        Ok(Self::Json(operations.into_iter().map(decoded).collect()))
    }

    /// The text of error messages: a strategic patch, or the result of any other.
    pub(crate) fn shown(&self, object: Object) -> String {
        match self {
            Self::Strategic(patch) => go_format(&Value::Object(patch.clone())),
            _ => self
                .apply(object)
                .map(|patched| Value::Object(patched).to_string())
                .unwrap_or_default(),
        }
    }

    pub(crate) fn apply(&self, object: Object) -> Result<Object, ApiError> {
        let mut value = Value::Object(object);
        match self {
            Self::Json(patch) => apply_operations(&mut value, patch)?,
            Self::Merge(patch) => json_patch::merge(&mut value, &Value::Object(patch.clone())),
            Self::Strategic(patch) => super::strategic::merge(&mut value, patch),
        }
        match value {
            Value::Object(object) => Ok(object),
            _ => Err(ApiError::bad_request("the patch leaves no object")),
        }
    }
}

/// Formats a value as Go's `%v` does: `map[a:1 b:[x y]]`.
pub(crate) fn go_format(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_format).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(k, v)| format!("{k}:{}", go_format(v)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        plain => plain.to_string(),
    }
}

/// Applies the operations in order; after an error `value` is undefined. A few `copy` operations can double an
/// object until memory or stack is exhausted, so the result of each is measured.
fn apply_operations(
    value: &mut Value,
    operations: &[Option<PatchOperation>],
) -> Result<(), ApiError> {
    for operation in operations {
        let operation = operation.as_ref().ok_or_else(ApiError::patch_rejected)?;
        let pointer_depth = operation.path().tokens().count();
        if pointer_depth > MAX_DEPTH {
            return Err(ApiError::patch_rejected());
        }
        // A missing value of an object that exists equals null: clients test for that before they add.
        if let PatchOperation::Test(test) = operation
            && test.value.is_null()
            && value.pointer(test.path.as_str()).is_none()
            && let Some(parent) = test.path.parent()
            && value.pointer(parent.as_str()).is_some()
        {
            continue;
        }
        let operation = &or_add(operation, value);
        let applied = json_patch::patch(value, std::slice::from_ref(operation));
        applied.map_err(|_| ApiError::patch_rejected())?;
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

/// Kubernetes adds the member that an object lacks when it is to be replaced, and copies a missing one as null.
fn or_add(operation: &PatchOperation, document: &Value) -> PatchOperation {
    let (missing, path, value) = match operation {
        PatchOperation::Replace(replace) => (&replace.path, &replace.path, &replace.value),
        PatchOperation::Copy(copy) => (&copy.from, &copy.path, &Value::Null),
        other => return other.clone(),
    };
    let parent = missing.split_back();
    let parent = parent.and_then(|(parent, _)| document.pointer(parent.as_str()));
    if !parent.is_some_and(Value::is_object) || document.pointer(missing.as_str()).is_some() {
        return operation.clone();
    }
    let (path, value) = (path.clone(), value.clone());
    PatchOperation::Add(json_patch::AddOperation { path, value })
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
    use crate::object::object;
    use serde_json::json;

    #[test]
    fn a_strategic_patch_is_formatted_as_go_does() {
        let patch = json!({"spec": {"containers": null, "x": [{"port": 80, "on": true}, "a"]}});
        assert_eq!(
            Patch::Strategic(object(patch.clone())).shown(Object::new()),
            "map[spec:map[containers:<nil> x:[map[on:true port:80] a]]]"
        );
        let merged = Patch::Merge(object(patch)).shown(object(json!({"a": 1})));
        assert_eq!(
            merged,
            r#"{"a":1,"spec":{"x":[{"on":true,"port":80},"a"]}}"#
        );
    }

    fn patched(document: Value, patch: Value) -> Result<Value, u16> {
        let patched = Patch::json(patch).and_then(|patch| patch.apply(object(document)));
        patched.map(Value::Object).map_err(|error| error.code())
    }

    #[test]
    fn operations_apply_in_order() {
        let patch = json!([
            {"op": "test", "path": "/a/b", "value": 1},
            {"op": "replace", "path": "/a/b", "value": 2},
            {"op": "add", "path": "/c", "value": []},
        ]);
        let expected = Ok(json!({"a": {"b": 2}, "c": []}));
        assert_eq!(patched(json!({"a": {"b": 1}}), patch), expected);
    }

    #[test]
    fn a_failing_test_is_refused() {
        let test = json!([{"op": "test", "path": "/a", "value": 2}]);
        assert_eq!(patched(json!({"a": 1}), test), Err(422));
        assert_eq!(patched(json!({}), json!({"op": "add"})), Err(400));
    }

    #[test]
    fn missing_values_equal_null() {
        let patch = json!([
            {"op": "test", "path": "/metadata/finalizers", "value": null},
            {"op": "add", "path": "/metadata/finalizers", "value": ["a/b"]},
        ]);
        let expected = Ok(json!({"metadata": {"finalizers": ["a/b"]}}));
        assert_eq!(patched(json!({"metadata": {}}), patch.clone()), expected);
        assert_eq!(
            patched(json!({}), patch),
            Err(422),
            "their object is missing"
        );
    }

    #[test]
    fn repeated_doubling_is_refused() {
        let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let patch = Value::from(vec![double; 64]);
        assert_eq!(patched(json!({"a": [1, 2, 3, 4]}), patch), Err(422));
    }
}
