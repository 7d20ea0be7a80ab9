//! The keywords of a structural schema: where they are forbidden, and what they must be.

use serde_json::{Value, json};

use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, entries, list, text};
use crate::schema::compile_pattern;

const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "must name scalar properties of the items, each once, that are not nullable and either required or have a default";
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

/// The keywords that must not be set inside of `allOf`, `anyOf`, `oneOf` or `not`.
const STRUCTURAL: &str = "type additionalProperties default title description nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-validations";

/// The errors of the keywords of one schema.
pub(super) fn keyword_errors(place: &Place<'_>, path: &str) -> Vec<FieldError> {
    let mut errors = forbidden_errors(place, path);
    let (type_name, is_embedded) = (place.word("type"), place.flag(EMBEDDED));
    if !type_name.is_empty() && !TYPES.contains(&type_name) {
        errors.not_supported(format!("{path}.type"), type_name, TYPES);
    }
    let mut wrong = |is_wrong: bool, key: &str, why: &str| {
        let field = format!("{path}.{key}");
        match place.schema.get(key) {
            _ if !is_wrong => {}
            Some(given) => errors.invalid(field, given.clone(), why),
            None => errors.required(field, why),
        }
    };
    let why = match path.ends_with(".items") {
        _ if place.is_root => "must not be empty at the root",
        true => "must not be empty for specified array items",
        false => "must not be empty for specified object fields",
    };
    wrong(place.is_type_missing(), "type", why);
    let why = "must be object at the root and for an embedded resource";
    let is_object = matches!(type_name, "" | "object");
    wrong((place.is_root || is_embedded) && !is_object, "type", why);
    let lacks_items = place.is("array") && place.items().is_none();
    wrong(
        place.is_declared.is_none() && lacks_items,
        "items",
        "must be specified",
    );
    let is_false = place.schema.get(PRESERVE) == Some(&Value::Bool(false));
    wrong(is_false, PRESERVE, "must be true or undefined");
    let pattern = compile_pattern(place.word("pattern"));
    wrong(
        pattern.is_none(),
        "pattern",
        "must be a valid regular expression",
    );
    let is_open = place.flag(PRESERVE) || place.list_len("properties") > 0;
    let why =
        "must not be empty for an embedded resource without x-kubernetes-preserve-unknown-fields";
    wrong(is_embedded && !is_open, "properties", why);
    let why = "must have strings as apiVersion and kind and an object as metadata";
    wrong(!place.has_own_types(), "properties", why);
    let why = "must not specify anything of metadata other than name and generateName";
    wrong(
        place.is_root && place.describes_metadata(),
        "properties",
        why,
    );
    merge_keywords(place, &mut wrong);
    errors
}

/// The keywords of how lists and maps are merged.
fn merge_keywords(place: &Place<'_>, wrong: &mut impl FnMut(bool, &str, &str)) {
    let is_valid = place.is("object") && matches!(place.word(MAP_TYPE), "atomic" | "granular");
    let why = "must be atomic or granular, and the type object";
    wrong(place.is_set(MAP_TYPE) && !is_valid, MAP_TYPE, why);
    let list_type = place.word(LIST_TYPE);
    let is_valid = place.is("array") && matches!(list_type, "atomic" | "set" | "map");
    let why = "must be atomic, set or map, and the type array";
    wrong(place.is_set(LIST_TYPE) && !is_valid, LIST_TYPE, why);
    let why = "must be map with x-kubernetes-list-map-keys";
    let has_keys = place.list_len(MAP_KEYS) > 0;
    wrong(has_keys && list_type != "map", LIST_TYPE, why);
    let why = "must be atomic and not nullable with x-kubernetes-list-type set";
    wrong(
        list_type == "set" && !place.has_atomic_items(),
        "items",
        why,
    );
    let is_open = place
        .items()
        .is_some_and(|items| !items.contains_key("properties"));
    let why = match is_open {
        true => "entries must all be names of item properties",
        false => KEYS,
    };
    wrong(list_type == "map" && !place.has_keys(), MAP_KEYS, why);
}

/// Keywords that must not be set, or not here.
fn forbidden_errors(place: &Place<'_>, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut forbid = |applies: bool, keywords: &str, why: &str| {
        for key in keywords
            .split(' ')
            .filter(|key| applies && place.is_set(key))
        {
            errors.forbidden(format!("{path}.{key}"), why);
        }
    };
    let unknown = "id additionalItems patternProperties definitions dependencies $ref uniqueItems";
    forbid(true, unknown, "is not supported");
    let why = "must not be used at the root";
    forbid(place.is_root, "nullable additionalProperties", why);
    let restricts = place.list_len("properties") > 0 && place.restricts_others();
    let why = "additionalProperties and properties are mutual exclusive";
    let forbids = restricts || place.flag(EMBEDDED);
    forbid(forbids, "additionalProperties", why);
    let why = "must not be set with x-kubernetes-int-or-string";
    forbid(place.flag(INT_OR_STRING), PRESERVE, why);
    forbid(place.flag(INT_OR_STRING), EMBEDDED, why);
    forbid(place.in_metadata, EMBEDDED, "must not be set in metadata");
    let why = "must not be set for apiVersion, kind and metadata";
    forbid(place.is_own_field, "default", why);
    let why = "must not be set inside of allOf, anyOf, oneOf or not to be structural";
    forbid(place.is_declared.is_some(), STRUCTURAL, why);
    if place.is_declared == Some(false) {
        let why = "must be declared outside of allOf, anyOf, oneOf and not, too";
        errors.required(path, why);
    }
    let mut keys = place.schema.keys().filter(|key| place.is_set(key));
    let is_allowed = |key: &String| AT_ROOT.split(' ').any(|allowed| allowed == key);
    if place.is_root && place.has_status && !keys.all(is_allowed) {
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
        let mut names = entries(metadata, &["properties"]).map(|(name, _)| name);
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
        let keys = list(self.schema, &[MAP_KEYS]);
        let is_true = |value: Option<&Value>| value == Some(&Value::Bool(true));
        let is_key = |index: usize, key: &Value| {
            let property = items.get("properties")?.get(key.as_str()?)?;
            let is_scalar = !matches!(property.get("type")?.as_str()?, "array" | "object");
            let has_default = property
                .get("default")
                .is_some_and(|value| !value.is_null());
            let is_present = has_default || list(items, &["required"]).contains(key);
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
