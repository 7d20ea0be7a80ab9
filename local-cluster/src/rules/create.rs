//! Creates.

use serde_json::Value;

use super::check_name;
use super::complete::complete;
use crate::names;
use crate::object::{self, Object, child, is_deleting};
use crate::resources::{Kind, reset_status};
use crate::status::ApiError;

/// Metadata that the server gives a new object.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    pub(crate) uid: String,
    pub(crate) now: String,
}

/// The stored form of an object to create, which is decoded and has clean metadata.
pub(crate) fn prepare_create(
    kind: &Kind,
    mut object: Object,
    stamp: &Stamp,
) -> Result<(Object, Vec<String>), ApiError> {
    debug_assert!(!kind.namespaced || !object::namespace(&object).is_empty());
    let meta = child(&mut object, "metadata");
    meta.remove("generation");
    forget_past(meta);
    let generate = object::text(meta, &["generateName"]).unwrap_or_default();
    if !meta.contains_key("name") && !generate.is_empty() {
        // Generated names have at most 63 characters, five of them random.
        let base: String = generate.chars().take(58).collect();
        let name = format!("{base}{}", names::suffix());
        meta.insert("name".to_owned(), name.into());
    }
    meta.insert("uid".to_owned(), Value::from(stamp.uid.as_str()));
    let now = Value::from(stamp.now.as_str());
    meta.insert("creationTimestamp".to_owned(), now);
    if kind.has_generation {
        meta.insert("generation".to_owned(), Value::from(1));
    }
    check_name(kind, &object)?;
    reset_status(kind, &mut object);
    let warnings = complete(kind, &mut object, None)?;
    debug_assert!(!is_deleting(&object));
    Ok((kind.to_storage(object), warnings))
}

/// Removes metadata that only existing objects have.
pub(crate) fn forget_past(meta: &mut Object) {
    for key in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        meta.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::resources::Registry;
    use crate::rules::{FieldValidation, decode};
    use serde_json::json;

    fn create(body: Value) -> Result<(Object, Vec<String>), ApiError> {
        let kind = Registry::new().builtin("", "pods").unwrap();
        let stamp = Stamp {
            uid: "u".into(),
            now: "2026-01-01T00:00:00Z".into(),
        };
        let mut object = object(body);
        let warnings = decode(&kind, &mut object, FieldValidation::Warn)?;
        Ok((prepare_create(&kind, object, &stamp)?.0, warnings))
    }

    #[test]
    fn a_pod_starts_pending_with_defaults() {
        let (pod, warnings) = create(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"generateName": "web-", "namespace": "default", "generation": 7},
            "spec": {"containers": [{"name": "c", "image": "r:5000/i:1"}], "zzz": 1},
            "status": {"phase": "Running"},
        }))
        .unwrap();
        assert!(object::name(&pod).starts_with("web-"));
        assert_eq!(object::generation(&pod), 1);
        assert_eq!(object::text(&pod, &["status", "phase"]), Some("Pending"));
        assert_eq!(
            pod["spec"]["containers"][0]["imagePullPolicy"],
            "IfNotPresent"
        );
        assert_eq!(warnings, ["unknown field \"spec.zzz\""]);
    }

    #[test]
    fn wrong_types_and_missing_parts_are_refused() {
        let no_name = create(json!({"metadata": {"namespace": "d"}, "spec": {"containers": []}}));
        assert_eq!(no_name.unwrap_err().code(), 422);
        let no_list = create(
            json!({"metadata": {"name": "a", "namespace": "d"}, "spec": {"containers": "x"}}),
        );
        assert_eq!(no_list.unwrap_err().reason(), "BadRequest");
        let empty = create(
            json!({"metadata": {"name": "a", "namespace": "d"}, "spec": {"containers": []}}),
        );
        assert_eq!(
            empty.unwrap_err().message(),
            "Pod \"a\" is invalid: spec.containers: Required value"
        );
    }
}
