//! Applies the patch of a mutating webhook.

use json_patch::PatchOperation;
use serde_json::Value;

use super::response::WebhookPatch;
use crate::object::Object;
use crate::patch::Patch;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatchError {
    /// It is not a valid JSON patch.
    Undecodable(String),
    /// It does not fit the object.
    NotApplicable(String),
}

/// The object after the patch; `None` if the patch is empty.
pub(super) fn patched(
    mut object: Object,
    patch: &WebhookPatch,
) -> Result<Option<Object>, PatchError> {
    let undecodable = |why: &str| {
        let text = format!("received undecodable patch in webhook response: {why}");
        PatchError::Undecodable(text)
    };
    if patch.type_name != "JSONPatch" {
        let why = format!("unsupported patch type {:?}", patch.type_name);
        return Err(PatchError::Undecodable(why));
    }
    let body: Value =
        serde_json::from_slice(&patch.body).map_err(|e| undecodable(&e.to_string()))?;
    let operations = match Patch::json(body).map_err(|e| undecodable(e.message()))? {
        Patch::Json(patch) => patch.0,
        Patch::Merge(_) | Patch::Strategic(_) => return Ok(None),
    };
    if operations.is_empty() {
        return Ok(None);
    }
    for operation in operations {
        // One at a time, so that the error can name the operation.
        let single = Patch::Json(json_patch::Patch(vec![operation.clone()]));
        object = single
            .apply(object)
            .map_err(|_| PatchError::NotApplicable(operation_error(&operation)))?;
    }
    Ok(Some(object))
}

/// The message for an operation that cannot be applied.
fn operation_error(operation: &PatchOperation) -> String {
    let path = operation.path().as_str();
    let what = match operation {
        PatchOperation::Test(_) => return format!("testing value {path} failed: test failed"),
        PatchOperation::Add(_) => "add",
        PatchOperation::Remove(_) => "remove",
        PatchOperation::Replace(_) => "replace",
        PatchOperation::Move(_) => "move",
        PatchOperation::Copy(_) => "copy",
    };
    format!("{what} operation does not apply: doc is missing path: {path:?}: missing value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn apply(body: &str, type_name: &str) -> Result<Option<Object>, PatchError> {
        let before = object(json!({"metadata": {"name": "a"}, "spec": {"n": 1}}));
        let patch = WebhookPatch {
            type_name: type_name.to_owned(),
            body: body.as_bytes().to_vec(),
        };
        patched(before, &patch)
    }

    #[test]
    fn operations_change_the_object_in_order() {
        let after = apply(
            r#"[{"op":"replace","path":"/spec/n","value":2},{"op":"add","path":"/spec/m","value":3}]"#,
            "JSONPatch",
        );
        assert_eq!(after.unwrap().unwrap()["spec"], json!({"n": 2, "m": 3}));
        assert_eq!(apply("[]", "JSONPatch"), Ok(None));
    }

    #[test]
    fn operations_that_do_not_fit_are_named() {
        for (body, expected) in [
            (
                r#"[{"op":"add","path":"/metadata/labels/a","value":"b"}]"#,
                "add operation does not apply: doc is missing path: \"/metadata/labels/a\": missing value",
            ),
            (
                r#"[{"op":"remove","path":"/spec/x"}]"#,
                "remove operation does not apply: doc is missing path: \"/spec/x\": missing value",
            ),
            (
                r#"[{"op":"test","path":"/spec/n","value":2}]"#,
                "testing value /spec/n failed: test failed",
            ),
        ] {
            let error = apply(body, "JSONPatch").unwrap_err();
            assert_eq!(error, PatchError::NotApplicable(expected.to_owned()));
        }
    }

    #[test]
    fn invalid_patches_are_rejected() {
        for body in ["", "{", "{}", r#"[{"op":"grow"}]"#, "[1]"] {
            let error = apply(body, "JSONPatch").unwrap_err();
            let PatchError::Undecodable(why) = error else {
                panic!("{body}")
            };
            assert!(why.starts_with("received undecodable patch in webhook response: "));
        }
        let error = apply("[]", "MergePatch").unwrap_err();
        assert_eq!(
            error,
            PatchError::Undecodable("unsupported patch type \"MergePatch\"".to_owned())
        );
    }
}
