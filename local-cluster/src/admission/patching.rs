//! Applies the patch of a mutating webhook.

use json_patch::PatchOperation;
use serde_json::Value;

use super::answer::Patch;
use crate::object::Object;
use crate::patch::Patch as ObjectPatch;

/// Why a patch was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatchError {
    /// It is no patch: the webhook cannot be relied on.
    Unreadable(String),
    /// It does not fit the object.
    Unfit(String),
}

/// The object after the patch; `None` when the patch says nothing.
pub(super) fn patched(mut object: Object, patch: &Patch) -> Result<Option<Object>, PatchError> {
    let unreadable = |why: &str| {
        let text = format!("received undecodable patch in webhook response: {why}");
        PatchError::Unreadable(text)
    };
    if patch.type_name != "JSONPatch" {
        let why = format!("unsupported patch type {:?}", patch.type_name);
        return Err(PatchError::Unreadable(why));
    }
    let body: Value =
        serde_json::from_slice(&patch.body).map_err(|e| unreadable(&e.to_string()))?;
    let operations = match ObjectPatch::json(body).map_err(|e| unreadable(e.message()))? {
        ObjectPatch::Json(patch) => patch.0,
        ObjectPatch::Merge(_) | ObjectPatch::Strategic(_) => return Ok(None),
    };
    if operations.is_empty() {
        return Ok(None);
    }
    for operation in operations {
        // One at a time, to know which did not fit.
        let step = ObjectPatch::Json(json_patch::Patch(vec![operation.clone()]));
        object = step
            .apply(object)
            .map_err(|_| PatchError::Unfit(unfit(&operation)))?;
    }
    Ok(Some(object))
}

/// Which operation did not fit.
fn unfit(operation: &PatchOperation) -> String {
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
        let patch = Patch {
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
    fn what_does_not_fit_is_named() {
        for (body, wanted) in [
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
            let refused = apply(body, "JSONPatch").unwrap_err();
            assert_eq!(refused, PatchError::Unfit(wanted.to_owned()));
        }
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for body in ["", "{", "{}", r#"[{"op":"grow"}]"#, "[1]"] {
            let refused = apply(body, "JSONPatch").unwrap_err();
            let PatchError::Unreadable(why) = refused else {
                panic!("{body}")
            };
            assert!(why.starts_with("received undecodable patch in webhook response: "));
        }
        let refused = apply("[]", "MergePatch").unwrap_err();
        assert_eq!(
            refused,
            PatchError::Unreadable("unsupported patch type \"MergePatch\"".to_owned())
        );
    }
}
