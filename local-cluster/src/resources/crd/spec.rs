//! Validation of definitions and of their updates.

use std::collections::HashSet;

use serde_json::Value;

use super::names::{label_fault, name_errors};
use super::versions::{has_status, parts, versions};
use super::{columns_errors, scale_errors, schema_errors, selectable_errors};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names::{SUBDOMAIN, is_subdomain};
use crate::object::{self, Object, at, condition, text};
use crate::schema::json_text;

pub(crate) fn crd_errors(crd: &Object, before: Option<&Object>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let word = |path: &[&str]| text(crd, path).unwrap_or_default();
    let name = object::name(crd);
    let plural = word(&["spec", "names", "plural"]);
    let group = word(&["spec", "group"]);
    if before.is_none() && name != format!("{plural}.{group}") {
        errors.invalid(
            "metadata.name",
            name,
            "must be spec.names.plural+\".\"+spec.group",
        );
    }
    // As in Kubernetes, what is stored is not validated again when only the status changes.
    if before.is_none_or(|before| before.get("spec") != crd.get("spec")) {
        errors.extend(spec_errors(crd, group));
    }
    if let Some(before) = before {
        errors.extend(change_errors(crd, before));
    }
    errors.extend(name_errors(crd, &["status", "acceptedNames"]));
    errors.extend(stored_errors(crd));
    errors
}

fn spec_errors(crd: &Object, group: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let word = |path: &[&str]| text(crd, path).unwrap_or_default();
    if group.is_empty() {
        errors.required("spec.group", "");
    } else if !is_subdomain(group) {
        errors.invalid("spec.group", group, SUBDOMAIN);
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.invalid("spec.group", group, detail);
    }
    errors.extend(one_of(crd, &["spec", "scope"], &["Cluster", "Namespaced"]));
    errors.extend(version_errors(crd));
    for key in ["plural", "singular", "kind", "listKind"] {
        if word(&["spec", "names", key]).is_empty() {
            errors.required(format!("spec.names.{key}"), "");
        }
    }
    errors.extend(name_errors(crd, &["spec", "names"]));
    errors.extend(part_errors(crd, "spec.v", false));
    errors.extend(conversion_errors(crd));
    if at(crd, &["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true)) {
        errors.invalid("spec.preserveUnknownFields", true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
    }
    errors
}

fn one_of(crd: &Object, path: &[&str], allowed: &[&str]) -> Option<FieldError> {
    let given = text(crd, path).unwrap_or_default();
    if given.is_empty() {
        return Some(FieldError::required(path.join("."), ""));
    }
    (!allowed.contains(&given))
        .then(|| FieldError::not_supported(path.join("."), &Value::from(given), allowed))
}

fn version_errors(crd: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    let mut unique = true;
    let mut storage = 0;
    for (index, version) in versions(crd).enumerate() {
        let schema = version.get("schema").and_then(|s| s.get("openAPIV3Schema"));
        if schema.is_none_or(|s| !s.is_object()) {
            let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
            errors.required(field, "");
        }
    }
    for (index, version) in versions(crd).enumerate() {
        let name = text(version, &["name"]).unwrap_or_default();
        storage += u32::from(version.get("storage") == Some(&Value::Bool(true)));
        unique &= names.insert(name);
        if let Some(fault) = label_fault(name) {
            let field = format!("spec.versions[{index}].name");
            errors.invalid(field, name, fault);
        }
        errors.extend(deprecation_errors(index, version));
        errors.extend(part_errors(crd, &format!("spec.versions[{index}]."), true));
    }
    let given = || at(crd, &["spec", "versions"]).cloned().unwrap_or_default();
    let mut invalid = |detail: &str| {
        let shown = json_text(&given());
        errors.push(FieldError {
            reason: "FieldValueInvalid",
            field: "spec.versions".to_owned(),
            message: format!("Invalid value: {shown}: {detail}"),
        });
    };
    if !unique {
        invalid("must contain unique version names");
    }
    if storage != 1 {
        invalid("must have exactly one version marked as storage version");
    }
    errors
}

fn deprecation_errors(index: usize, version: &Object) -> Vec<FieldError> {
    let Some(warning) = text(version, &["deprecationWarning"]) else {
        return Vec::new();
    };
    let deprecated = version.get("deprecated") == Some(&Value::Bool(true));
    let mut why = Vec::new();
    if !deprecated {
        why.push("can only be set for deprecated versions".to_owned());
    } else if warning.len() > 256 {
        why.push("must be <= 256 characters long".to_owned());
    } else if warning.is_empty() {
        why.push("must not be an empty string".to_owned());
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| c.is_control()) {
        why.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
    let field = format!("spec.versions[{index}].deprecationWarning");
    why.iter()
        .map(|why| FieldError::invalid(field.as_str(), &Value::from(warning), why))
        .collect()
}

/// Errors of schemas, subresources, columns and selectable fields: of one version, or of what all
/// versions share.
fn part_errors(crd: &Object, place: &str, of_version: bool) -> Vec<FieldError> {
    let here = |key: &str, shared: &str| -> Vec<(String, Value)> {
        parts(crd, key, shared)
            .into_iter()
            .filter(|(path, _)| path.starts_with("spec.versions[") == of_version)
            .filter(|(path, _)| !of_version || path.starts_with(place))
            .map(|(path, part)| (path, part.clone()))
            .collect()
    };
    let mut errors = Vec::new();
    for (path, schema) in here("schema", "validation") {
        let status = has_status(crd, &path);
        if let Some(schema @ Value::Object(_)) = schema.get("openAPIV3Schema") {
            errors.extend(schema_errors(
                schema,
                &format!("{path}.openAPIV3Schema"),
                status,
            ));
        }
    }
    for (path, subresources) in here("subresources", "subresources") {
        errors.extend(scale_errors(&subresources, &path));
    }
    for (path, columns) in here("additionalPrinterColumns", "additionalPrinterColumns") {
        errors.extend(columns_errors(&columns, &path));
    }
    let schemas = parts(crd, "schema", "validation");
    for (path, fields) in here("selectableFields", "selectableFields") {
        let own = path.rsplit_once('.').map_or("", |(version, _)| version);
        let schema = schemas
            .iter()
            .find(|(schema, _)| schema.strip_suffix(".schema") == Some(own))
            .or(schemas.first())
            .and_then(|(_, schema)| schema.get("openAPIV3Schema"));
        errors.extend(selectable_errors(&fields, schema, &path));
    }
    errors
}

fn conversion_errors(crd: &Object) -> Vec<FieldError> {
    let path = &["spec", "conversion", "strategy"];
    let mut errors: Vec<FieldError> = one_of(crd, path, &["None", "Webhook"])
        .into_iter()
        .collect();
    let webhook = at(crd, &["spec", "conversion", "webhook"]).filter(|w| !w.is_null());
    if text(crd, path) == Some("Webhook") {
        errors.invalid(
            path.join("."),
            "Webhook",
            "must be None: this server does not call conversion webhooks",
        );
    } else if let Some(webhook) = webhook {
        for (key, field) in [
            ("clientConfig", "webhookClientConfig"),
            ("conversionReviewVersions", "conversionReviewVersions"),
        ] {
            if webhook.get(key).is_some_and(|v| !v.is_null()) {
                errors.forbidden(
                    format!("spec.conversion.{field}"),
                    "should not be set when strategy is not set to Webhook",
                );
            }
        }
    }
    errors
}

/// Immutable fields: group and plural always, scope and kind once established.
fn change_errors(crd: &Object, before: &Object) -> Vec<FieldError> {
    let established = condition(before, "Established").and_then(|c| c.get("status")?.as_str());
    let mut fixed: Vec<&[&str]> = Vec::new();
    if established == Some("True") {
        fixed.extend([&["spec", "scope"][..], &["spec", "names", "kind"]]);
    }
    fixed.extend([&["spec", "group"][..], &["spec", "names", "plural"]]);
    let changed = fixed
        .iter()
        .filter(|path| at(crd, path) != at(before, path));
    changed
        .map(|path| {
            let given = at(crd, path).cloned().unwrap_or_default();
            FieldError::invalid(path.join("."), &given, "field is immutable")
        })
        .collect()
}

/// Objects may remain in a former storage version, so it must still be declared.
fn stored_errors(crd: &Object) -> Vec<FieldError> {
    let stored = at(crd, &["status", "storedVersions"]).and_then(Value::as_array);
    let mut errors = Vec::new();
    for (index, name) in stored.into_iter().flatten().enumerate() {
        if !versions(crd).any(|version| version.get("name") == Some(name)) {
            let version = name.as_str().unwrap_or_default();
            errors.invalid(format!("status.storedVersions[{index}]"), name.clone(), &format!(
                    "missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {version} and removes {version} from status.storedVersions"
                ));
        }
    }
    errors
}
