//! The steps that creates and updates share: pruning, defaulting, validation.

use serde_json::Value;

use super::options::{FieldValidation, Part};
use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{self, Object};
use crate::resources::{
    Kind, Scale, admit_pod, check_types, crd_errors, fill_defaults, format_warnings, normalise,
    normalise_metadata, webhook_errors,
};
use crate::status::ApiError;

/// Fills in defaults and validates an object, against its former state if there is one. Returns
/// warnings for the client.
pub(super) fn complete(
    kind: &Kind,
    object: &mut Object,
    before: Option<(&Object, Part)>,
) -> Result<Vec<String>, ApiError> {
    fill_defaults(kind, object);
    if kind.is("", "pods") {
        admit_pod(object);
    }
    super::builtin::drop_ignored_fields(kind, object);
    if let Some((before, _)) = before {
        super::builtin::drop_dependent_fields(kind, before, object);
    }
    let (mut errors, warnings) = validate(kind, object, before);
    if let Some((before, _)) = before.filter(|_| !kind.is_custom()) {
        let changes = super::builtin::change_errors(kind, before, object);
        let place = if kind.is("", "services") {
            0
        } else {
            errors.len()
        };
        errors.splice(place..place, changes);
    }
    ApiError::check(kind, object::name(object), &errors)?;
    Ok(warnings)
}

/// Prunes unknown fields and fills in defaults.
pub(crate) fn decode(
    kind: &Kind,
    object: &mut Object,
    validation: FieldValidation,
) -> Result<Vec<String>, ApiError> {
    let unknown = match &kind.custom {
        None => {
            let unknown = normalise(kind, object);
            check_types(kind, object).map_err(|why| ApiError::cannot_handle(kind, &why))?;
            unknown
        }
        Some(custom) => match custom.compiled() {
            None => normalise_metadata(object),
            Some(schema) => {
                let mut unknown = normalise_metadata(object);
                let mut value = Value::Object(std::mem::take(object));
                unknown.extend(schema.prune(&mut value));
                schema.fill(&mut value);
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
        return Err(ApiError::cannot_handle(kind, &why));
    }
    fill_defaults(kind, object);
    Ok(match validation {
        FieldValidation::Warn => unknown,
        _ => Vec::new(),
    })
}

/// The object is the same afterwards.
fn validate(
    kind: &Kind,
    object: &mut Object,
    before: Option<(&Object, Part)>,
) -> (Vec<FieldError>, Vec<String>) {
    let mut errors = super::metadata::metadata_errors(object);
    if let Some((before, _)) = before {
        errors.extend(super::metadata::metadata_change_errors(before, object));
    }
    if let Some(custom) = &kind.custom {
        let Some(schema) = custom.compiled() else {
            return (errors, Vec::new());
        };
        let new = Value::Object(std::mem::take(object));
        let old = before.map(|(old, part)| (Value::Object(old.clone()), part));
        let checked = match &old {
            None => schema.check_create(&new),
            Some((old, Part::Status)) => schema.check_status(&new, old),
            Some((old, _)) => schema.check_update(&new, old),
        };
        errors.extend(checked.errors);
        if let Some(scale) = &custom.scale {
            let status_only = matches!(before, Some((_, Part::Status)));
            errors.extend(replica_errors(scale, &new, status_only));
        }
        *object = object::object(new);
        return (errors, checked.warnings);
    }
    let former = before.map(|(before, _)| before);
    errors.extend(super::builtin::object_errors(kind, object, former));
    match kind.plural.as_str() {
        "customresourcedefinitions" => {
            let errors = crd_errors(object, former, errors);
            let known = former.map(format_warnings).unwrap_or_default();
            let mut warnings = format_warnings(object);
            warnings.retain(|warning| !known.contains(warning));
            return (errors, warnings);
        }
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            errors.extend(webhook_errors(object));
        }
        "mutatingadmissionpolicies" | "validatingadmissionpolicies" if before.is_none() => {
            let warning = "admission policies are kept here and not enforced".to_owned();
            return (errors, vec![warning]);
        }
        _ => {}
    }
    let warnings = match before {
        Some((_, Part::Status)) => Vec::new(),
        _ => super::builtin::warnings(kind, object, before.is_none()),
    };
    (errors, warnings)
}

/// Errors of the fields that the scale subresource of a custom resource refers to; `status_only` skips the
/// desired replicas.
fn replica_errors(scale: &Scale, object: &Value, status_only: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let at = |path: &str| object.pointer(&path.replace('.', "/")).cloned();
    let desired = (!status_only).then_some(&scale.spec_path);
    for path in desired.into_iter().chain([&scale.status_path]) {
        let parent = path.rsplit_once('.').and_then(|(parent, _)| at(parent));
        match at(path).or(parent.filter(|parent| !parent.is_object() && !parent.is_null())) {
            None => {}
            Some(Value::Number(n)) if n.as_i64().is_some_and(|n| (0..1 << 31).contains(&n)) => {}
            Some(Value::Number(given)) if given.is_i64() => {
                errors.invalid(path.as_str(), given, "should be a non-negative integer");
            }
            Some(given) => {
                let why = format!("{path} accessor error: {given} is of another type");
                errors.invalid(path.as_str(), 0, &why);
            }
        }
    }
    if let Some(path) = &scale.selector_path
        && let Some(given) = at(path).filter(|selector| !selector.is_string())
    {
        errors.invalid(path.as_str(), given, "should be a string");
    }
    errors
}
