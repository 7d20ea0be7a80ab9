//! Objects of built-in kinds, checked by Kubernetes' generated types and left as its server encodes them.
//!
//! Objects are JSON maps inside the server. Decoding them as their type finds values of wrong types. Fields that are
//! unknown, and empty values that the server leaves out or adds, follow from the table of [`fields_of`].

use serde_json::Value;

use super::Kind;
use super::kind::TypeCheck;
use crate::messages::{Field, METADATA, Shape, fields_of};
use crate::object::{Object, is_empty};

/// The error names the value of a wrong type.
pub(crate) fn check_types(kind: &Kind, object: &Object) -> Result<(), String> {
    let check = |check: TypeCheck| check(Value::Object(object.clone()));
    let checked = kind.check_types.map_or(Ok(()), check);
    checked.map_err(|error| in_go_words(&error))
}

/// The error as Go's decoder words it, but for the names of types.
pub(crate) fn in_go_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let parts = text.strip_prefix("invalid type: ");
    let Some((given, wanted)) = parts.and_then(|parts| parts.split_once(", expected ")) else {
        return format!("parsing time: {text}");
    };
    let given = match given.split(' ').next().unwrap_or_default() {
        "boolean" => "bool",
        "map" => "object",
        "sequence" => "array",
        "string" => "string",
        _ => "number",
    };
    format!("json: cannot unmarshal {given} into Go value of type {wanted}")
}

/// Leaves an object as the server encodes it and returns the paths of unknown fields, which are removed.
pub(crate) fn normalise(kind: &Kind, object: &mut Object) -> Vec<String> {
    let mut unknown = Vec::new();
    normalise_message(object, &kind.api_version(), &kind.kind, "", &mut unknown);
    unknown
}

/// As [`normalise`], for the metadata of any kind.
pub(crate) fn normalise_metadata(object: &mut Object) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        let (section, name) = METADATA;
        normalise_message(metadata, section, name, "metadata", &mut unknown);
        // An empty list resets the managers of built-in kinds only.
        if metadata.get("managedFields").is_some_and(is_empty) {
            metadata.remove("managedFields");
        }
    }
    unknown
}

/// An object of the kind with nothing but what the server always encodes.
pub(crate) fn empty_object(kind: &Kind) -> Object {
    let mut empty = Object::new();
    normalise(kind, &mut empty);
    kind.present_object(empty)
}

/// As [`normalise`], for a message of this section, see [`fields_of`].
pub(crate) fn normalise_message(
    object: &mut Object,
    section: &str,
    name: &str,
    path: &str,
    unknown: &mut Vec<String>,
) {
    let Some(fields) = named_fields(section, name) else {
        return;
    };
    let has_type = fields.iter().any(|(name, _)| *name == "metadata");
    object.retain(|key, value| {
        let here = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        match fields.iter().find(|(name, _)| name == key) {
            _ if has_type && matches!(key.as_str(), "apiVersion" | "kind") => true,
            None => {
                unknown.push(here);
                false
            }
            Some((_, field)) => {
                // An empty list of managers resets them.
                let resets = key == "managedFields" && value.is_array();
                normalise_value(value, *field, &here, unknown);
                if resets && value.is_null() {
                    *value = Value::Array(Vec::new());
                }
                field.is_required || !is_unset(value, *field)
            }
        }
    });
    for (name, field) in fields {
        if field.is_required && !object.contains_key(name) {
            object.insert(name.to_owned(), zero(field));
        }
    }
}

/// The fields of a message by their names in JSON, with those of messages in it that have none.
fn named_fields(section: &str, name: &str) -> Option<Vec<(&'static str, Field)>> {
    let (section, fields) = fields_of(section, name)?;
    let mut named = Vec::with_capacity(fields.len());
    for (name, form) in fields.values() {
        let field = Field::of(section, form);
        match field.shape {
            Shape::Inline => named.extend(named_fields(section, field.base)?),
            _ => named.push((*name, field)),
        }
    }
    Some(named)
}

fn normalise_value(value: &mut Value, field: Field, path: &str, unknown: &mut Vec<String>) {
    match (field.shape, &mut *value) {
        (Shape::List | Shape::Map, value) if is_empty(value) => {
            if !field.is_required {
                *value = Value::Null;
            }
        }
        (Shape::List, Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                normalise_item(item, field, &format!("{path}[{index}]"), unknown);
            }
        }
        (Shape::Map, Value::Object(map)) => {
            for (key, item) in map {
                normalise_item(item, field, &format!("{path}.{key}"), unknown);
            }
        }
        (Shape::Pointer, Value::Null) => {}
        (_, value) => normalise_item(value, field, path, unknown),
    }
}

fn normalise_item(value: &mut Value, field: Field, path: &str, unknown: &mut Vec<String>) {
    if value.is_null() {
        *value = match field.base {
            "y" => Value::from(""),
            _ => zero(Field {
                shape: Shape::Plain,
                ..field
            }),
        };
    }
    let (section, mut name) = (field.section, field.base);
    if let Some(union) = name.strip_prefix('|') {
        // Of the forms of a union, one may be a message, and another a list of it.
        let fields = named_fields(section, union).into_iter().flatten();
        let mut messages = fields.filter(|(_, field)| field.base.len() > 1);
        name = messages.next().map_or("", |(_, field)| field.base);
    }
    let items = match value {
        Value::Array(items) => items.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    for object in items.iter_mut().filter_map(Value::as_object_mut) {
        normalise_message(object, section, name, path, unknown);
    }
}

/// The server does not distinguish the value from a missing one.
fn is_unset(value: &Value, field: Field) -> bool {
    let is_zero = *value == "" || *value == 0 || *value == false;
    value.is_null() || field.shape == Shape::Plain && is_zero
}

fn zero(field: Field) -> Value {
    match (field.shape, field.base) {
        (Shape::Plain, "s") => Value::from(""),
        (Shape::Plain, "q") => Value::from("0"),
        (Shape::Plain, "i" | "o" | "f") => Value::from(0),
        (Shape::Plain, "b") => Value::from(false),
        (Shape::Plain, message) if message.len() > 1 && !message.starts_with('|') => {
            let mut empty = Object::new();
            normalise_message(&mut empty, field.section, message, "", &mut Vec::new());
            Value::Object(empty)
        }
        _ => Value::Null,
    }
}
