//! Which keywords a schema may use, and with what else.

use serde_json::{Map, Value};

use super::rule::rule_errors;
use crate::field_error::FieldError;
use crate::schema::Node;

type Schema = Map<String, Value>;

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// What a walk knows about where it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings<'a> {
    root: bool,
    in_metadata: bool,
    /// Why there can be no defaults here.
    no_defaults: Option<&'a str>,
    /// The nearest part around this one whose items have no past.
    no_past: Option<&'a str>,
}

/// What is wrong with a schema's keywords, and after that what is wrong with its rules; rules are
/// only looked at when `node` is given.
pub(super) fn keyword_errors(schema: &Schema, node: Option<&Node>, place: &str) -> Vec<FieldError> {
    let mut walk = Walk::default();
    let around = Surroundings {
        root: true,
        ..Surroundings::default()
    };
    walk.visit(schema, node, place, around);
    if walk.errors.is_empty() {
        walk.errors = walk.rule_errors;
    }
    walk.errors
}

#[derive(Debug, Default)]
struct Walk {
    errors: Vec<FieldError>,
    rule_errors: Vec<FieldError>,
}

fn word<'a>(schema: &'a Schema, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    }
}

impl Walk {
    fn forbid(&mut self, field: String, detail: &str) {
        self.errors.push(FieldError::forbidden(field, detail));
    }

    fn invalid(&mut self, field: String, value: &Value, detail: &str) {
        self.errors.push(FieldError::invalid(field, value, detail));
    }

    fn require(&mut self, field: String, detail: &str) {
        self.errors.push(FieldError::required(field, detail));
    }

    fn visit(&mut self, schema: &Schema, node: Option<&Node>, place: &str, here: Surroundings<'_>) {
        self.standard(schema, place, here);
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.forbid(
                format!("{place}.uniqueItems"),
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            );
        }
        self.inside(schema, node, place, here);
        if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
            self.invalid(
                format!("{place}.x-kubernetes-preserve-unknown-fields"),
                &Value::Bool(false),
                "must be true or undefined",
            );
        }
        self.lists_and_maps(schema, place);
        self.rules(schema, node, place, here);
    }

    /// What OpenAPI has and Kubernetes has not.
    fn standard(&mut self, schema: &Schema, place: &str, here: Surroundings<'_>) {
        let at = |key: &str| format!("{place}.{key}");
        let type_name = word(schema, "type");
        if !type_name.is_empty() && !TYPES.contains(&type_name) {
            let types: Vec<String> = TYPES.iter().map(|t| format!("\"{t}\"")).collect();
            let error = FieldError::not_supported(at("type"), &type_name.into(), &types);
            self.errors.push(error);
        }
        if let Some(reason) = here.no_defaults.filter(|_| is_set(schema.get("default"))) {
            self.forbid(at("default"), &format!("must not be set {reason}"));
        }
        for key in [
            "id",
            "additionalItems",
            "patternProperties",
            "definitions",
            "dependencies",
            "$ref",
        ] {
            if is_set(schema.get(key)) {
                self.forbid(at(key), &format!("{key} is not supported"));
            }
        }
        if type_name == "null" {
            let detail = "type cannot be set to null, use nullable as an alternative";
            self.forbid(at("type"), detail);
        }
        if schema.get("items").is_some_and(Value::is_array) {
            self.forbid(
                at("items"),
                "items must be a schema object and not an array",
            );
        }
        if here.in_metadata
            && schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true))
        {
            let field = at("x-kubernetes-embedded-resource");
            self.forbid(field, "must not be used inside of resource meta");
        }
    }

    fn inside(
        &mut self,
        schema: &Schema,
        node: Option<&Node>,
        place: &str,
        here: Surroundings<'_>,
    ) {
        let below = Surroundings {
            root: false,
            ..here
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let has_properties = properties.is_some_and(|p| !p.is_empty());
        let additional = schema.get("additionalProperties");
        if has_properties && matches!(additional, Some(Value::Object(_) | Value::Bool(false))) {
            self.forbid(
                format!("{place}.additionalProperties"),
                "additionalProperties and properties are mutual exclusive",
            );
        }
        if let Some(Value::Object(other)) = additional {
            let around = Surroundings {
                no_defaults: match here.in_metadata {
                    true => Some("inside additionalProperties applying to object metadata"),
                    false => here.no_defaults,
                },
                ..below
            };
            let node = node.and_then(Node::values);
            self.visit(
                other,
                node,
                &format!("{place}.additionalProperties"),
                around,
            );
        }
        let embedded = schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
        for (name, property) in properties.into_iter().flatten() {
            let Value::Object(property) = property else {
                continue;
            };
            let own = matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
            let reason = format!("in top-level {name}");
            let around = Surroundings {
                in_metadata: here.in_metadata || (own && (here.root || embedded)),
                no_defaults: if own && here.root {
                    Some(&reason)
                } else {
                    here.no_defaults
                },
                ..below
            };
            let node = node.and_then(|node| node.property(name));
            self.visit(
                property,
                node,
                &format!("{place}.properties[{name}]"),
                around,
            );
        }
        if let Some(Value::Object(not)) = schema.get("not") {
            self.visit(not, None, &format!("{place}.not"), below);
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            let list = schema.get(key).and_then(Value::as_array);
            for (index, branch) in list.into_iter().flatten().enumerate() {
                if let Value::Object(branch) = branch {
                    self.visit(branch, None, &format!("{place}.{key}[{index}]"), below);
                }
            }
        }
        if let Some(Value::Object(items)) = schema.get("items") {
            let keyed = word(schema, "x-kubernetes-list-type") == "map";
            let around = Surroundings {
                no_past: here.no_past.or((!keyed).then_some(place)),
                ..below
            };
            let node = node.and_then(Node::items);
            self.visit(items, node, &format!("{place}.items"), around);
        }
    }

    fn lists_and_maps(&mut self, schema: &Schema, place: &str) {
        let at = |key: &str| format!("{place}.{key}");
        let type_name = word(schema, "type");
        let map_type = schema.get("x-kubernetes-map-type").and_then(Value::as_str);
        let list_type = schema.get("x-kubernetes-list-type").and_then(Value::as_str);
        for (given, key, wanted, allowed) in [
            (
                map_type,
                "x-kubernetes-map-type",
                "object",
                &["atomic", "granular"][..],
            ),
            (
                list_type,
                "x-kubernetes-list-type",
                "array",
                &["atomic", "set", "map"],
            ),
        ] {
            let Some(given) = given else { continue };
            if type_name != wanted {
                let detail = format!("must be {wanted} if {key} is specified");
                if type_name.is_empty() {
                    self.require(at("type"), &detail);
                } else {
                    self.invalid(at("type"), &type_name.into(), &detail);
                }
            }
            if !allowed.contains(&given) {
                let allowed: Vec<String> = allowed.iter().map(|a| format!("\"{a}\"")).collect();
                let error = FieldError::not_supported(at(key), &given.into(), &allowed);
                self.errors.push(error);
            }
        }
        let items = schema.get("items").and_then(Value::as_object);
        if let Some(items) = items.filter(|_| list_type == Some("set") && type_name == "array") {
            let (key, atomic) = match word(items, "type") {
                "array" => (
                    "x-kubernetes-list-type",
                    matches!(word(items, "x-kubernetes-list-type"), "" | "atomic"),
                ),
                "object" => (
                    "x-kubernetes-map-type",
                    word(items, "x-kubernetes-map-type") == "atomic",
                ),
                _ => ("", true),
            };
            if !atomic {
                let given = items
                    .get("x-kubernetes-list-type")
                    .cloned()
                    .unwrap_or_default();
                self.invalid(
                    format!("{place}.items.{key}"),
                    &given,
                    "must be atomic as item of a list with x-kubernetes-list-type=set",
                );
            }
        }
        let keys_value = schema
            .get("x-kubernetes-list-map-keys")
            .cloned()
            .unwrap_or_default();
        let keys: Vec<&str> = keys_value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !keys.is_empty() && list_type != Some("map") {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            match list_type {
                None => self.require(at("x-kubernetes-list-type"), detail),
                Some(other) => self.invalid(at("x-kubernetes-list-type"), &other.into(), detail),
            }
        }
        if list_type == Some("map") {
            self.keyed_list(&keys, &keys_value, items, place);
        }
        if let Some(items) = items.filter(|_| matches!(list_type, Some("map" | "set"))) {
            self.no_nulls(&keys, items, list_type.unwrap_or_default(), place);
        }
    }

    fn keyed_list(&mut self, keys: &[&str], given: &Value, items: Option<&Schema>, place: &str) {
        let at = |key: &str| format!("{place}.{key}");
        if keys.is_empty() {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            self.require(at("x-kubernetes-list-map-keys"), detail);
        }
        let Some(items) = items else {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            return self.require(at("items"), detail);
        };
        let type_name = word(items, "type");
        if type_name != "object" {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            return self.invalid(format!("{place}.items.type"), &type_name.into(), detail);
        }
        let mut seen: Vec<&str> = Vec::new();
        for key in keys {
            match items.get("properties").and_then(|p| p.get(*key)) {
                None => self.invalid(
                    at("x-kubernetes-list-map-keys"),
                    given,
                    "entries must all be names of item properties",
                ),
                Some(property) => {
                    let inner = property.get("type").and_then(Value::as_str);
                    if matches!(inner, Some("array" | "object")) {
                        self.invalid(
                            format!("{place}.items.properties[{key}].type"),
                            &type_name.into(),
                            "must be a scalar type if parent array's x-kubernetes-list-type is map",
                        );
                    }
                }
            }
            if seen.contains(key) {
                let detail = "must not contain duplicate entries";
                self.invalid(at("x-kubernetes-list-map-keys"), given, detail);
            }
            seen.push(key);
        }
    }

    /// What tells items apart is always there.
    fn no_nulls(&mut self, keys: &[&str], items: &Schema, list_type: &str, place: &str) {
        let nullable = |schema: &Value| schema.get("nullable") == Some(&Value::Bool(true));
        if items.get("nullable") == Some(&Value::Bool(true)) {
            self.forbid(
                format!("{place}.items.nullable"),
                &format!("cannot be nullable when x-kubernetes-list-type is {list_type}"),
            );
        }
        if list_type != "map" {
            return;
        }
        let required = items.get("required").and_then(Value::as_array);
        for key in keys {
            let Some(property) = items.get("properties").and_then(|p| p.get(*key)) else {
                continue;
            };
            let place = format!("{place}.items.properties[{key}]");
            let always = required.is_some_and(|r| r.iter().any(|name| name == key))
                || property.get("default").is_some_and(|d| !d.is_null());
            if !always {
                self.require(
                    format!("{place}.default"),
                    "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
                );
            }
            if nullable(property) {
                self.forbid(
                    format!("{place}.nullable"),
                    "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
                );
            }
        }
    }

    fn rules(&mut self, schema: &Schema, node: Option<&Node>, place: &str, here: Surroundings<'_>) {
        let Some(Value::Array(rules)) = schema.get("x-kubernetes-validations") else {
            return;
        };
        for (index, rule) in rules.iter().enumerate() {
            let place = format!("{place}.x-kubernetes-validations[{index}]");
            let compiled = node.and_then(|node| node.rules().get(index));
            let (errors, compiled) = rule_errors(schema, rule, compiled, &place, here.no_past);
            self.errors.extend(errors);
            self.rule_errors.extend(compiled);
        }
    }
}
