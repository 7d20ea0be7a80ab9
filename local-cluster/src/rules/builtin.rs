//! Validation of built-in kinds.
//!
//! Of names, ports and addresses, most by rows of `table`, which `walker` checks; and of what is immutable, by
//! `changes`. Kubernetes has many more rules.

mod changes;
mod endpoint_slices;
mod services;
mod table;
#[cfg(test)]
mod tests;
mod walker;

pub(super) use self::changes::change_errors;

use self::changes::json_at;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::object::{Object, at};
use crate::resources::Kind;
use crate::selector::LabelSelector;

const SLICES: (&str, &str) = ("discovery.k8s.io", "endpointslices");

/// Drops fields that the API server accepts and does not store.
pub(super) fn drop_ignored_fields(kind: &Kind, object: &mut Object) {
    if kind.is(SLICES.0, SLICES.1) && !kind.is_custom() {
        endpoint_slices::drop_ignored_fields(object);
    }
}

/// Adjusts fields of an updated object that depend on others.
pub(super) fn drop_dependent_fields(kind: &Kind, before: &Object, next: &mut Object) {
    if kind.is("", "services") && !kind.is_custom() {
        services::drop_dependent_fields(before, next);
    }
}

/// Validates an object with its defaults, in its served version.
pub(super) fn object_errors(
    kind: &Kind,
    object: &Object,
    before: Option<&Object>,
) -> Vec<FieldError> {
    let (group, plural) = (kind.group.as_str(), kind.plural.as_str());
    let mut errors = walker::errors(table::rows(group, plural), object);
    match (group, plural) {
        ("", "services") => errors.extend(services::object_errors(object)),
        // Endpoints that are unchanged are not validated again.
        SLICES if before.is_some_and(|old| old.get("endpoints") == object.get("endpoints")) => {}
        SLICES => errors.extend(endpoint_slices::address_errors(object)),
        ("apps", _) => errors.extend(template_error(object)),
        _ => {}
    }
    errors
}

/// Warnings about a valid object.
pub(super) fn warnings(kind: &Kind, object: &Object, is_new: bool) -> Vec<String> {
    if kind.is("", "services") {
        return services::warnings(object);
    }
    let is_slice = kind.is(SLICES.0, SLICES.1);
    if is_slice && is_new && json_at(object, "addressType") == "FQDN" {
        // Kubernetes names the field so.
        return vec!["spec.addressType: FQDN endpoints are deprecated".to_owned()];
    }
    Vec::new()
}

/// The selector of a workload must select its own pods.
fn template_error(workload: &Object) -> Option<FieldError> {
    let given = json_at(workload, "spec.selector");
    let is_missing = given.as_object().is_some_and(Object::is_empty);
    let selector = match given {
        Value::Null => LabelSelector::default(),
        given => LabelSelector::of(&serde_json::from_value(given).ok()?),
    };
    let template = at(workload, &["spec", "template"])?.as_object()?;
    if is_missing || !selector.is_empty() && selector.matches(template) {
        return None;
    }
    let labels = at(template, &["metadata", "labels"]).cloned();
    let why = "`selector` does not match template `labels`";
    Some(FieldError::invalid(
        "spec.template.metadata.labels",
        &labels.unwrap_or_default(),
        why,
    ))
}
