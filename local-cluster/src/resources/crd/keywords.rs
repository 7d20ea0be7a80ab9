//! Validation of the keywords of a schema and of their combinations.

use serde_json::Value;

use super::rule::rule_errors;
use super::rule_cost::TotalCost;
use super::word;
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::Object;
use crate::schema::Node;

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// The context of a schema within its definition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SchemaContext<'a> {
    root: bool,
    in_metadata: bool,
    /// Why defaults are forbidden here.
    no_defaults: Option<&'a str>,
    /// The path of the outermost list around it whose items cannot be correlated with their old
    /// values.
    uncorrelatable: Option<&'a str>,
    /// How many values of this schema an object can have; `None` if no list or map around it limits
    /// the number of its items.
    cardinality: Option<u64>,
}

/// Errors of keywords, or else of rules; rules are checked only with a `node`.
pub(super) fn keyword_errors(schema: &Object, node: Option<&Node>, place: &str) -> Vec<FieldError> {
    let mut walk = SchemaWalk::default();
    let around = SchemaContext {
        root: true,
        cardinality: Some(1),
        ..SchemaContext::default()
    };
    walk.visit(schema, node, place, around);
    if walk.errors.is_empty() {
        walk.errors = walk.rule_errors;
    }
    walk.errors.extend(walk.cost.errors(place));
    walk.errors
}

#[derive(Debug, Default)]
struct SchemaWalk {
    errors: Vec<FieldError>,
    rule_errors: Vec<FieldError>,
    cost: TotalCost,
}

fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    }
}

impl SchemaWalk {
    fn visit(
        &mut self,
        schema: &Object,
        node: Option<&Node>,
        place: &str,
        here: SchemaContext<'_>,
    ) {
        self.standard(schema, place, here);
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.errors.forbidden(
                format!("{place}.uniqueItems"),
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            );
        }
        self.inside(schema, node, place, here);
        if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
            self.errors.invalid(
                format!("{place}.x-kubernetes-preserve-unknown-fields"),
                false,
                "must be true or undefined",
            );
        }
        self.lists_and_maps(schema, place);
        self.rules(schema, node, place, here);
    }

    /// Keywords of OpenAPI that Kubernetes restricts.
    fn standard(&mut self, schema: &Object, place: &str, here: SchemaContext<'_>) {
        let at = |key: &str| format!("{place}.{key}");
        let type_name = word(schema, "type");
        if !type_name.is_empty() && !TYPES.contains(&type_name) {
            self.errors.not_supported(at("type"), type_name, TYPES);
        }
        if let Some(reason) = here.no_defaults.filter(|_| is_set(schema.get("default"))) {
            self.errors
                .forbidden(at("default"), &format!("must not be set {reason}"));
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
                self.errors
                    .forbidden(at(key), &format!("{key} is not supported"));
            }
        }
        if type_name == "null" {
            let detail = "type cannot be set to null, use nullable as an alternative";
            self.errors.forbidden(at("type"), detail);
        }
        if schema.get("items").is_some_and(Value::is_array) {
            self.errors.forbidden(
                at("items"),
                "items must be a schema object and not an array",
            );
        }
        if here.in_metadata
            && schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true))
        {
            let field = at("x-kubernetes-embedded-resource");
            self.errors
                .forbidden(field, "must not be used inside of resource meta");
        }
    }

    fn inside(
        &mut self,
        schema: &Object,
        node: Option<&Node>,
        place: &str,
        here: SchemaContext<'_>,
    ) {
        let children = node.map_or(Some(1), Node::max_children);
        let below = SchemaContext {
            root: false,
            cardinality: here
                .cardinality
                .zip(children)
                .map(|(here, children)| here.saturating_mul(children)),
            ..here
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let has_properties = properties.is_some_and(|p| !p.is_empty());
        let additional = schema.get("additionalProperties");
        if has_properties && matches!(additional, Some(Value::Object(_) | Value::Bool(false))) {
            self.errors.forbidden(
                format!("{place}.additionalProperties"),
                "additionalProperties and properties are mutual exclusive",
            );
        }
        if let Some(Value::Object(other)) = additional {
            let around = SchemaContext {
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
            let around = SchemaContext {
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
            let around = SchemaContext {
                uncorrelatable: here.uncorrelatable.or((!keyed).then_some(place)),
                ..below
            };
            let node = node.and_then(Node::items);
            self.visit(items, node, &format!("{place}.items"), around);
        }
    }

    fn lists_and_maps(&mut self, schema: &Object, place: &str) {
        let at = |key: &str| format!("{place}.{key}");
        let type_name = word(schema, "type");
        let map_type = schema.get("x-kubernetes-map-type").and_then(Value::as_str);
        let list_type = schema.get("x-kubernetes-list-type").and_then(Value::as_str);
        for (given, key, expected, allowed) in [
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
            if type_name != expected {
                let detail = format!("must be {expected} if {key} is specified");
                if type_name.is_empty() {
                    self.errors.required(at("type"), &detail);
                } else {
                    self.errors.invalid(at("type"), type_name, &detail);
                }
            }
            if !allowed.contains(&given) {
                self.errors.not_supported(at(key), given, allowed);
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
                self.errors.invalid(
                    format!("{place}.items.{key}"),
                    given,
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
                None => self.errors.required(at("x-kubernetes-list-type"), detail),
                Some(other) => self
                    .errors
                    .invalid(at("x-kubernetes-list-type"), other, detail),
            }
        }
        if list_type == Some("map") {
            self.keyed_list(&keys, &keys_value, items, place);
        }
        if let Some(items) = items.filter(|_| matches!(list_type, Some("map" | "set"))) {
            self.no_nulls(&keys, items, list_type.unwrap_or_default(), place);
        }
    }

    fn keyed_list(&mut self, keys: &[&str], given: &Value, items: Option<&Object>, place: &str) {
        let at = |key: &str| format!("{place}.{key}");
        if keys.is_empty() {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            self.errors
                .required(at("x-kubernetes-list-map-keys"), detail);
        }
        let Some(items) = items else {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            return self.errors.required(at("items"), detail);
        };
        let type_name = word(items, "type");
        if type_name != "object" {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            return self
                .errors
                .invalid(format!("{place}.items.type"), type_name, detail);
        }
        let mut seen: Vec<&str> = Vec::new();
        for key in keys {
            match items.get("properties").and_then(|p| p.get(*key)) {
                None => self.errors.invalid(
                    at("x-kubernetes-list-map-keys"),
                    given.clone(),
                    "entries must all be names of item properties",
                ),
                Some(property) => {
                    let inner = property.get("type").and_then(Value::as_str);
                    if matches!(inner, Some("array" | "object")) {
                        self.errors.invalid(
                            format!("{place}.items.properties[{key}].type"),
                            type_name,
                            "must be a scalar type if parent array's x-kubernetes-list-type is map",
                        );
                    }
                }
            }
            if seen.contains(key) {
                let detail = "must not contain duplicate entries";
                self.errors
                    .invalid(at("x-kubernetes-list-map-keys"), given.clone(), detail);
            }
            seen.push(key);
        }
    }

    /// Keys of items must be present and not null.
    fn no_nulls(&mut self, keys: &[&str], items: &Object, list_type: &str, place: &str) {
        let nullable = |schema: &Value| schema.get("nullable") == Some(&Value::Bool(true));
        if items.get("nullable") == Some(&Value::Bool(true)) {
            self.errors.forbidden(
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
                self.errors.required(
                    format!("{place}.default"),
                    "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
                );
            }
            if nullable(property) {
                self.errors.forbidden(
                    format!("{place}.nullable"),
                    "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
                );
            }
        }
    }

    fn rules(
        &mut self,
        schema: &Object,
        node: Option<&Node>,
        place: &str,
        here: SchemaContext<'_>,
    ) {
        let Some(Value::Array(rules)) = schema.get("x-kubernetes-validations") else {
            return;
        };
        for (index, rule) in rules.iter().enumerate() {
            let place = format!("{place}.x-kubernetes-validations[{index}]");
            let compiled = node.and_then(|node| node.rules().get(index));
            let (errors, compiled) =
                rule_errors(schema, rule, (node, compiled), &place, here.uncorrelatable);
            self.errors.extend(errors);
            if let Some((node, rule)) = node.and_then(|node| Some((node, node.rules().get(index)?)))
            {
                let times = here.cardinality.unwrap_or_else(|| node.max_occurrences());
                let errors = self.cost.add(rule, times, &place);
                self.rule_errors.extend(errors);
            }
            self.rule_errors.extend(compiled);
        }
    }
}
