//! The keywords of a structural schema: where they are forbidden, and what they must be.

use serde_json::{Value, json};

use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, text};
use crate::schema::compile_pattern;

const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// The keywords at the root of a schema with a status subresource.
const AT_ROOT: &str = "description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations";

/// A schema within its definition.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) schema: &'a Object,
    pub(super) is_root: bool,
    /// The version has a status subresource.
    pub(super) has_status: bool,
    /// It is part of the metadata of a resource.
    pub(super) in_metadata: bool,
    /// It is `apiVersion`, `kind` or `metadata` of the root.
    pub(super) is_own_field: bool,
    /// Inside of `allOf`, `anyOf`, `oneOf` or `not`: whether the schema around them declares it, too.
    pub(super) is_declared: Option<bool>,
}

/// Keywords, a condition, and a message.
type Row = (&'static str, fn(&Place<'_>) -> bool, &'static str);

/// Keywords that must not be set, where, and why.
const FORBIDDEN: &[Row] = &[
    (
        "id additionalItems patternProperties definitions dependencies $ref uniqueItems",
        |_| true,
        "is not supported",
    ),
    (
        "nullable additionalProperties",
        |place| place.is_root,
        "must not be set at the root",
    ),
    (
        "additionalProperties",
        |place| {
            place.flag(EMBEDDED) || (place.list_len("properties") > 0 && place.restricts_others())
        },
        "must not be set together with properties or for an embedded resource",
    ),
    (
        "x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource",
        |place| place.flag(INT_OR_STRING),
        "must not be set with x-kubernetes-int-or-string",
    ),
    (
        EMBEDDED,
        |place| place.in_metadata,
        "must not be set in metadata",
    ),
    (
        "default",
        |place| place.is_own_field,
        "must not be set for apiVersion, kind and metadata",
    ),
    (
        "type additionalProperties default title description nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-validations",
        |place| place.is_declared.is_some(),
        "must not be set inside of allOf, anyOf, oneOf or not to be structural",
    ),
];

/// Keywords with the condition under which they are wrong, and why.
const WRONG: &[Row] = &[
    (
        "type",
        |place| place.is_type_missing(),
        "must not be empty to be structural",
    ),
    (
        "type",
        |place| !place.word("type").is_empty() && !TYPES.contains(&place.word("type")),
        "must be one of array, boolean, integer, number, object, string",
    ),
    (
        "type",
        |place| {
            (place.is_root || place.flag(EMBEDDED)) && !matches!(place.word("type"), "" | "object")
        },
        "must be object at the root and for an embedded resource",
    ),
    (
        "items",
        |place| place.is_declared.is_none() && place.is("array") && place.items().is_none(),
        "must be a schema",
    ),
    (
        PRESERVE,
        |place| place.schema.get(PRESERVE) == Some(&Value::Bool(false)),
        "must be true or undefined",
    ),
    (
        "pattern",
        |place| compile_pattern(place.word("pattern")).is_none(),
        "must be a valid regular expression",
    ),
    (
        "properties",
        |place| place.flag(EMBEDDED) && !place.flag(PRESERVE) && place.list_len("properties") == 0,
        "must not be empty for an embedded resource without x-kubernetes-preserve-unknown-fields",
    ),
    (
        "properties",
        |place| !place.has_own_types(),
        "must have strings as apiVersion and kind and an object as metadata",
    ),
    (
        "properties",
        |place| place.is_root && place.describes_metadata(),
        "must not specify anything of metadata other than name and generateName",
    ),
    (
        MAP_TYPE,
        |place| {
            place.is_set(MAP_TYPE)
                && !(place.is("object") && matches!(place.word(MAP_TYPE), "atomic" | "granular"))
        },
        "must be atomic or granular, and the type object",
    ),
    (
        LIST_TYPE,
        |place| {
            place.is_set(LIST_TYPE)
                && !(place.is("array") && matches!(place.word(LIST_TYPE), "atomic" | "set" | "map"))
        },
        "must be atomic, set or map, and the type array",
    ),
    (
        LIST_TYPE,
        |place| place.list_len(MAP_KEYS) > 0 && place.word(LIST_TYPE) != "map",
        "must be map with x-kubernetes-list-map-keys",
    ),
    (
        "items",
        |place| place.word(LIST_TYPE) == "set" && !place.has_atomic_items(),
        "must be atomic and not nullable with x-kubernetes-list-type set",
    ),
    (
        MAP_KEYS,
        |place| place.word(LIST_TYPE) == "map" && !place.has_keys(),
        "must name scalar properties of the items, each once, that are not nullable and either required or have a default",
    ),
];

/// The errors of the keywords of one schema.
pub(super) fn keyword_errors(place: &Place<'_>, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (keywords, applies, why) in FORBIDDEN {
        if applies(place) {
            for key in keywords.split(' ').filter(|key| place.is_set(key)) {
                errors.forbidden(format!("{path}.{key}"), why);
            }
        }
    }
    for (key, is_wrong, why) in WRONG {
        if is_wrong(place) {
            let field = format!("{path}.{key}");
            match place.schema.get(*key) {
                Some(given) => errors.invalid(field, given.clone(), why),
                None => errors.required(field, why),
            }
        }
    }
    if place.is_declared == Some(false) {
        errors.required(
            path,
            "must be declared outside of allOf, anyOf, oneOf and not, too",
        );
    }
    let keys = || place.schema.keys().filter(|key| place.is_set(key));
    if place.is_root && place.has_status && !keys().all(|key| AT_ROOT.split(' ').any(|k| k == key))
    {
        let why = format!("must only have {AT_ROOT} at the root with a status subresource");
        errors.forbidden(path, &why);
    }
    errors
}

impl<'a> Place<'a> {
    fn word(&self, key: &str) -> &'a str {
        text(self.schema, &[key]).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> bool {
        self.schema.get(key) == Some(&Value::Bool(true))
    }

    fn is(&self, type_name: &str) -> bool {
        self.word("type") == type_name
    }

    /// True for a keyword with a value that means something.
    fn is_set(&self, key: &str) -> bool {
        match self.schema.get(key) {
            None | Some(Value::Null) => false,
            Some(_) if matches!(key, "additionalProperties" | "default") => true,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(list)) => !list.is_empty(),
            Some(Value::Object(map)) => !map.is_empty(),
            Some(Value::Number(_)) => true,
        }
    }

    fn list_len(&self, key: &str) -> usize {
        match self.schema.get(key) {
            Some(Value::Array(list)) => list.len(),
            Some(Value::Object(map)) => map.len(),
            _ => 0,
        }
    }

    fn items(&self) -> Option<&'a Object> {
        self.schema.get("items")?.as_object()
    }

    fn property(&self, name: &str) -> Option<&'a Object> {
        self.schema.get("properties")?.get(name)?.as_object()
    }

    fn restricts_others(&self) -> bool {
        let additional = self.schema.get("additionalProperties");
        matches!(additional, Some(Value::Object(_) | Value::Bool(false)))
    }

    fn is_type_missing(&self) -> bool {
        let is_free = self.flag(INT_OR_STRING) || self.flag(PRESERVE) && !self.flag(EMBEDDED);
        self.is_declared.is_none() && self.word("type").is_empty() && !is_free
    }

    /// True if the fields that every resource has are of their types, where they are described.
    fn has_own_types(&self) -> bool {
        let of = |name| {
            self.property(name)
                .map(|property| text(property, &["type"]))
        };
        let is = |name, expected| of(name).is_none_or(|given| given == Some(expected));
        let is_resource = self.is_root || self.flag(EMBEDDED);
        !is_resource
            || (is("apiVersion", "string") && is("kind", "string") && is("metadata", "object"))
    }

    fn describes_metadata(&self) -> bool {
        let Some(metadata) = self.property("metadata") else {
            return false;
        };
        let properties = metadata.get("properties").and_then(Value::as_object);
        let mut names = properties
            .into_iter()
            .flat_map(|properties| properties.keys());
        let mut keys = metadata.keys();
        keys.any(|key| !matches!(key.as_str(), "type" | "properties" | "default"))
            || names.any(|name| name != "name" && name != "generateName")
    }

    fn has_atomic_items(&self) -> bool {
        let Some(items) = self.items() else {
            return true;
        };
        let word = |key| text(items, &[key]).unwrap_or_default();
        let is_atomic = match word("type") {
            "array" => matches!(word(LIST_TYPE), "" | "atomic"),
            "object" => word(MAP_TYPE) == "atomic",
            _ => true,
        };
        is_atomic && items.get("nullable") != Some(&Value::Bool(true))
    }

    fn has_keys(&self) -> bool {
        let Some(items) = self.items() else {
            return false;
        };
        let keys = self.schema.get(MAP_KEYS).and_then(Value::as_array);
        let keys = keys.map_or(&[][..], Vec::as_slice);
        let is_true = |value: Option<&Value>| value == Some(&Value::Bool(true));
        let is_key = |index: usize, key: &Value| {
            let property = items.get("properties")?.get(key.as_str()?)?;
            let is_scalar = !matches!(property.get("type")?.as_str()?, "array" | "object");
            let required = items.get("required").and_then(Value::as_array);
            let is_present = required.is_some_and(|required| required.contains(key))
                || property
                    .get("default")
                    .is_some_and(|default| !default.is_null());
            let is_new = !keys[..index].contains(key);
            Some(is_scalar && is_present && is_new && !is_true(property.get("nullable")))
        };
        let mut numbered = keys.iter().enumerate();
        text(items, &["type"]) == Some("object")
            && !keys.is_empty()
            && !is_true(items.get("nullable"))
            && numbered.all(|(index, key)| is_key(index, key) == Some(true))
    }
}

/// Recognises the branches of `anyOf` by which older definitions describe int-or-string.
pub(super) fn is_int_or_string(branches: &Value) -> bool {
    *branches == json!([{"type": "integer"}, {"type": "string"}])
}
