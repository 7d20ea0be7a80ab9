//! Validation of metadata.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize as _;
use serde_json::Value;

use crate::field_error::{ErrorList as _, FieldError};
use crate::names;
use crate::object::{self, Object, entries, finalizers, is_deleting, items, string};
use crate::resources::{Kind, in_go_words};
use crate::status::ApiError;

/// Metadata that a deletion sets.
pub(super) const DELETION: [&str; 2] = ["deletionTimestamp", "deletionGracePeriodSeconds"];

/// Checks the types of metadata.
pub(crate) fn clean_metadata(kind: &Kind, object: &mut Object) -> Result<(), ApiError> {
    let slot = object.entry("metadata").or_insert(Value::Null);
    if slot.is_null() {
        *slot = Value::Object(Object::new());
    }
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = slot.get_mut(map) {
            // Go decodes null in a map of strings as an empty string.
            for value in map.values_mut().filter(|v| v.is_null()) {
                *value = Value::from("");
            }
        }
    }
    let wrong = |error| ApiError::cannot_handle(kind, &in_go_words(&error));
    ObjectMeta::deserialize(&*slot).map_err(wrong)?;
    Ok(())
}

/// Validates labels, annotations and owner references.
pub(super) fn metadata_errors(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in entries(object, &["metadata", "labels"]) {
        if !names::is_label_key(key) {
            errors.invalid("metadata.labels", key.as_str(), names::LABEL_KEY);
        }
        if !value.as_str().is_some_and(names::is_label_value) {
            errors.invalid("metadata.labels", value.clone(), names::LABEL_VALUE);
        }
    }
    for (key, _) in entries(object, &["metadata", "annotations"]) {
        if !names::is_label_key(&key.to_lowercase()) {
            errors.invalid("metadata.annotations", key.as_str(), names::LABEL_KEY);
        }
    }
    let mut controllers = Vec::new();
    let owners = items(object, &["metadata", "ownerReferences"]);
    for owner in owners {
        for key in ["apiVersion", "kind", "name", "uid"] {
            if string(owner, key).is_empty() {
                let field = format!("metadata.ownerReferences.{key}");
                let version = if key == "apiVersion" { "version " } else { "" };
                errors.invalid(field, "", &format!("{version}must not be empty"));
            }
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            controllers.push(format!(
                "{}/{}",
                string(owner, "kind"),
                string(owner, "name")
            ));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        let given = object::list(object, &["metadata", "ownerReferences"]);
        errors.invalid("metadata.ownerReferences", given, &why);
    }
    errors
}

/// Errors of an update: only a deletion sets a deletion timestamp, and then no finalizers are added.
pub(super) fn metadata_change_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if is_deleting(before) {
        let old = finalizers(before);
        let mut new = finalizers(next);
        new.retain(|finalizer| !old.contains(finalizer));
        if !new.is_empty() {
            new.sort_unstable();
            let new: Vec<String> = new.iter().map(|f| format!("{f:?}")).collect();
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                new.join(", ")
            );
            errors.forbidden("metadata.finalizers", &why);
        }
    } else {
        for key in DELETION {
            if let Some(given) = object::at(next, &["metadata", key]) {
                let field = format!("metadata.{key}");
                errors.invalid(field, given.clone(), "field is immutable");
            }
        }
    }
    // A cluster validates metadata twice and lists the causes twice.
    [errors.clone(), errors].concat()
}

pub(crate) fn check_name(kind: &Kind, object: &Object) -> Result<(), ApiError> {
    let (name, mut errors) = (object::name(object), Vec::new());
    let is_label = !kind.is_custom() && matches!(kind.plural.as_str(), "namespaces" | "services");
    if name.is_empty() {
        errors.required("metadata.name", "name or generateName is required");
    } else if is_path_segment(kind) {
        if matches!(name, "." | "..") {
            errors.invalid("metadata.name", name, &format!("may not be '{name}'"));
        }
        for part in ["/", "%"].into_iter().filter(|part| name.contains(part)) {
            errors.invalid("metadata.name", name, &format!("may not contain '{part}'"));
        }
    } else if is_label && !names::is_label(name) {
        errors.invalid("metadata.name", name, names::LABEL);
    } else if !names::is_subdomain(name) {
        errors.invalid("metadata.name", name, names::SUBDOMAIN);
    }
    ApiError::check(kind, name, &errors)
}

/// The names of roles and events are no DNS names, such as `system:node`.
fn is_path_segment(kind: &Kind) -> bool {
    let is_role = kind.group == "rbac.authorization.k8s.io";
    !kind.is_custom() && (is_role || kind.plural == "events")
}
