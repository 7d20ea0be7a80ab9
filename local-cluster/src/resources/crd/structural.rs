//! Whether a schema is structural: every field has a type, and combinations such as `anyOf` only
//! add constraints.

use serde_json::{Value, json};

use super::word;
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::Object;
use crate::schema::{compile_pattern, shown};

#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaLevel {
    Root,
    Item,
    Field,
}

/// Sorted by field and message.
pub(super) fn structural_errors(schema: &Object, place: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(schema, SchemaLevel::Root, place, &mut errors);
    completeness(schema, Some(schema), place, place, &mut errors);
    errors.sort_by_cached_key(|error| format!("{}: {}", error.field, error.message));
    errors
}

fn flag(schema: &Object, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

fn inner<'a>(schema: &'a Object, key: &str) -> Option<&'a Object> {
    schema.get(key)?.as_object()
}

fn properties(schema: &Object) -> impl Iterator<Item = (&String, &Object)> {
    inner(schema, "properties")
        .into_iter()
        .flatten()
        .filter_map(|(name, property)| Some((name, property.as_object()?)))
}

fn branches<'a>(schema: &'a Object, key: &str) -> impl Iterator<Item = (usize, &'a Object)> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .enumerate()
}

fn is_int_or_string_choice(list: Option<&Value>) -> bool {
    list == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

#[allow(clippy::too_many_lines, reason = "one rule after the other")]
fn invariants(schema: &Object, level: SchemaLevel, place: &str, errors: &mut Vec<FieldError>) {
    let at = |key: &str| format!("{place}.{key}");
    let type_name = word(schema, "type");
    let items = inner(schema, "items");
    if type_name == "array" && items.is_none() {
        errors.required(at("items"), "must be specified");
    }
    if let Some(items) = items {
        invariants(items, SchemaLevel::Item, &at("items"), errors);
    }
    for (name, property) in properties(schema) {
        let place = format!("{place}.properties[{name}]");
        invariants(property, SchemaLevel::Field, &place, errors);
    }
    let additional = schema.get("additionalProperties").filter(|a| !a.is_null());
    if additional.is_some() && level == SchemaLevel::Root {
        let detail = "must not be used at the root";
        errors.forbidden(at("additionalProperties"), detail);
    }
    if let Some(other) = additional.and_then(Value::as_object) {
        let place = at("additionalProperties");
        invariants(other, SchemaLevel::Field, &place, errors);
    }
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let either = flag(schema, "x-kubernetes-int-or-string");
    let free = flag(schema, "x-kubernetes-preserve-unknown-fields");
    for (set, key) in [
        (free, "x-kubernetes-preserve-unknown-fields"),
        (embedded, "x-kubernetes-embedded-resource"),
    ] {
        if either && set {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.invalid(at(key), true, detail);
        }
    }
    let skip_any = is_int_or_string_choice(schema.get("anyOf"));
    let first = schema.get("allOf").and_then(|all| all.get(0));
    let skip_first = is_int_or_string_choice(first.and_then(|f| f.get("anyOf")));
    conditions(schema, (skip_any, skip_first), place, errors);
    let mut must_be_object = |detail: &str| match type_name {
        "" => errors.required(at("type"), detail),
        other => errors.invalid(at("type"), other, detail),
    };
    if embedded && type_name != "object" {
        must_be_object("must be object if x-kubernetes-embedded-resource is true");
    } else if type_name.is_empty() && !either && !free {
        let detail = match level {
            SchemaLevel::Root => "must not be empty at the root",
            SchemaLevel::Item => "must not be empty for specified array items",
            SchemaLevel::Field => "must not be empty for specified object fields",
        };
        errors.required(at("type"), detail);
    }
    if embedded && additional.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.forbidden(at("additionalProperties"), detail);
    }
    if level == SchemaLevel::Root && !type_name.is_empty() && type_name != "object" {
        let detail = "must be object at the root";
        errors.invalid(at("type"), type_name, detail);
    }
    if level == SchemaLevel::Root || embedded {
        for (name, expected) in [
            ("kind", "string"),
            ("apiVersion", "string"),
            ("metadata", "object"),
        ] {
            let property = inner(schema, "properties").and_then(|p| inner(p, name));
            if let Some(given) = property.map(|p| word(p, "type")).filter(|t| *t != expected) {
                errors.invalid(
                    format!("{place}.properties[{name}].type"),
                    given,
                    &format!("must be {expected}"),
                );
            }
        }
    }
    let metadata = inner(schema, "properties").and_then(|p| inner(p, "metadata"));
    if level == SchemaLevel::Root && metadata.is_some_and(specifies_more_than_names) {
        errors.forbidden(format!("{place}.properties[metadata]"), "must not specify anything other than name and generateName, but metadata is implicitly specified");
    }
    if embedded && !free && properties(schema).next().is_none() {
        errors.required(at("properties"), "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields");
    }
}

fn specifies_more_than_names(metadata: &Object) -> bool {
    let others = metadata
        .keys()
        .any(|key| !matches!(key.as_str(), "type" | "properties" | "default"));
    others || properties(metadata).any(|(name, _)| name != "name" && name != "generateName")
}

/// Checks combinations of schemas; the usual patterns of int-or-string are skipped.
fn conditions(
    schema: &Object,
    (skip_any, skip_first): (bool, bool),
    place: &str,
    errors: &mut Vec<FieldError>,
) {
    if !skip_any {
        for (index, branch) in branches(schema, "anyOf") {
            nested(branch, false, &format!("{place}.anyOf[{index}]"), errors);
        }
    }
    for (index, branch) in branches(schema, "allOf") {
        let skip = skip_first && index == 0;
        nested(branch, skip, &format!("{place}.allOf[{index}]"), errors);
    }
    for (index, branch) in branches(schema, "oneOf") {
        nested(branch, false, &format!("{place}.oneOf[{index}]"), errors);
    }
    if let Some(not) = inner(schema, "not") {
        nested(not, false, &format!("{place}.not"), errors);
    }
    let pattern = word(schema, "pattern");
    if !pattern.is_empty()
        && let Err(why) = compile_pattern(pattern)
    {
        errors.push(FieldError {
            reason: "FieldValueInvalid",
            field: format!("{place}.pattern"),
            message: format!(
                "Invalid value: {}: must be a valid regular expression, but isn't: {why}",
                shown(&pattern.into())
            ),
        });
    }
}

/// A schema in a combination may add constraints only.
fn nested(schema: &Object, skip_any: bool, place: &str, errors: &mut Vec<FieldError>) {
    conditions(schema, (skip_any, false), place, errors);
    if let Some(items) = inner(schema, "items") {
        nested(items, false, &format!("{place}.items"), errors);
    }
    for (name, property) in properties(schema) {
        nested(
            property,
            false,
            &format!("{place}.properties[{name}]"),
            errors,
        );
    }
    for (key, detail) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-embedded-resource",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-int-or-string",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
        ),
        (
            "x-kubernetes-list-type",
            "must be undefined to be structural",
        ),
        (
            "x-kubernetes-map-type",
            "must be undefined to be structural",
        ),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let set = match schema.get(key) {
            None | Some(Value::Null | Value::Bool(false)) => {
                key == "additionalProperties" && schema.get(key) == Some(&Value::Bool(false))
            }
            Some(Value::String(text)) => !text.is_empty() || key == "default",
            Some(Value::Array(list)) => !list.is_empty() || key == "default",
            Some(_) => true,
        };
        if set {
            errors.forbidden(format!("{place}.{key}"), detail);
        }
    }
    if properties(schema).any(|(name, _)| name == "metadata") {
        errors.forbidden(
            format!("{place}.properties[metadata]"),
            "must not be specified in a nested context",
        );
    }
}

/// Refuses constraints on fields that the structure does not declare.
fn completeness(
    condition: &Object,
    structure: Option<&Object>,
    place: &str,
    condition_place: &str,
    errors: &mut Vec<FieldError>,
) {
    let mut below = |branch: &Object, path: String| {
        complete_nested(branch, structure, place, &path, errors);
    };
    if let Some(not) = inner(condition, "not") {
        below(not, format!("{condition_place}.not"));
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in branches(condition, key) {
            below(branch, format!("{condition_place}.{key}[{index}]"));
        }
    }
}

fn complete_nested(
    condition: &Object,
    structure: Option<&Object>,
    place: &str,
    condition_place: &str,
    errors: &mut Vec<FieldError>,
) {
    let Some(known) = structure else {
        let detail = format!("because it is defined in {condition_place}");
        errors.required(place, &detail);
        return;
    };
    completeness(condition, structure, place, condition_place, errors);
    if let Some(items) = inner(condition, "items") {
        let (place, from) = (format!("{place}.items"), format!("{condition_place}.items"));
        complete_nested(items, inner(known, "items"), &place, &from, errors);
    }
    for (name, property) in properties(condition) {
        let step = format!("properties[{name}]");
        let (place, from) = (
            format!("{place}.{step}"),
            format!("{condition_place}.{step}"),
        );
        let counterpart = inner(known, "properties").and_then(|p| inner(p, name));
        complete_nested(property, counterpart, &place, &from, errors);
    }
}
