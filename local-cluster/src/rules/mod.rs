//! What a write may do and what it leads to, decided without store or network.
//!
//! Each rule takes objects and returns an object or a refusal; `writer` carries the decision out.

mod create;
mod delete;
mod metadata;
mod update;

pub(crate) use create::{Stamp, prepare_create};
pub(crate) use delete::{DeleteOptions, Deletion, Propagation, decide_deletion};
pub(crate) use metadata::{check_name, clean_metadata};
pub(crate) use update::{Part, Update, decide_update};

use serde_json::Value;

use crate::object::{self, Object};
use crate::resources::{Kind, check_types, crd_errors, fill_defaults, unknown_fields};
use crate::schema;
use crate::status::{ApiError, FieldError};

/// The finalizer of a foreground deletion: the collector removes it when the dependents are gone.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an orphaning deletion: the collector removes it when the dependents are freed.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer of a definition whose custom resources are still to be deleted.
pub(crate) const DEFINITION_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What to do about fields that a kind does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// Completes an object (presented form) and checks it. Returns warnings for the client.
fn complete(
    kind: &Kind,
    object: &mut Object,
    validation: FieldValidation,
) -> Result<Vec<String>, ApiError> {
    let unknown = match &kind.custom {
        None => {
            check_types(kind, object).map_err(|why| cannot_handle(kind, &why))?;
            unknown_fields(kind, object)
        }
        Some(custom) => match &custom.schema {
            None => Vec::new(),
            Some(schema) => {
                let mut value = Value::Object(std::mem::take(object));
                let unknown = schema::prune(schema, &mut value, true);
                schema::fill(schema, &mut value);
                *object = object::object(value);
                unknown
            }
        },
    };
    let unknown: Vec<String> = unknown
        .iter()
        .map(|path| format!("unknown field \"{path}\""))
        .collect();
    if validation == FieldValidation::Strict && !unknown.is_empty() {
        let why = format!("strict decoding error: {}", unknown.join(", "));
        return Err(cannot_handle(kind, &why));
    }
    fill_defaults(kind, object);
    let errors = complaints(kind, object);
    if !errors.is_empty() {
        return Err(ApiError::invalid(
            &kind.group,
            &kind.kind,
            object::name(object),
            &errors,
        ));
    }
    Ok(match validation {
        FieldValidation::Warn => unknown,
        _ => Vec::new(),
    })
}

/// The body cannot be decoded as the kind.
pub(crate) fn cannot_handle(kind: &Kind, why: &str) -> ApiError {
    ApiError::bad_request(format!(
        "{0} in version \"{1}\" cannot be handled as a {0}: {why}",
        kind.kind, kind.version
    ))
}

fn complaints(kind: &Kind, object: &Object) -> Vec<FieldError> {
    let mut errors = metadata::complaints(object);
    if let Some(custom) = &kind.custom {
        if let Some(schema) = &custom.schema {
            errors.extend(schema::validate(schema, &Value::Object(object.clone())));
        }
        return errors;
    }
    let list_is_empty = |path: &[&str]| {
        object::at(object, path)
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty)
    };
    match kind.plural.as_str() {
        "pods" if list_is_empty(&["spec", "containers"]) => {
            errors.push(FieldError::required("spec.containers", ""));
        }
        "services"
            if list_is_empty(&["spec", "ports"])
                && object::text(object, &["spec", "clusterIP"]) != Some("None")
                && object::text(object, &["spec", "type"]) != Some("ExternalName") =>
        {
            errors.push(FieldError::required("spec.ports", ""));
        }
        "customresourcedefinitions" => errors.extend(crd_errors(object)),
        _ => {}
    }
    errors
}
