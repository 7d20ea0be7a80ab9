//! Validation of the schema of a version: it is structural, its defaults are valid, its rules compile.

use serde_json::Value;

use super::keywords::{Place, is_int_or_string, keyword_errors};
use super::rules::rule_errors;
use crate::field_error::FieldError;
use crate::object::{Object, entries, text};
use crate::schema::{Node, RuleTree, default_errors};

/// The deepest nesting of a schema, in levels of JSON.
const MAX_LEVELS: usize = 200;

/// A schema, compiled, with its surroundings.
#[derive(Clone, Copy)]
struct Step<'a> {
    place: Place<'a>,
    /// The schema that must declare the fields of a combination.
    structure: Option<&'a Object>,
    node: Option<&'a Node>,
    rules: Option<&'a RuleTree>,
    /// The path of the outermost list around it whose items cannot be correlated with their old
    /// values.
    uncorrelatable: Option<&'a str>,
}

#[derive(Debug, Default)]
struct SchemaWalk {
    errors: Vec<FieldError>,
    /// Errors of defaults and rules, which are reported only for a structural schema.
    compiled: Vec<FieldError>,
}

pub(super) fn schema_errors(schema: &Object, path: &str, has_status: bool) -> Vec<FieldError> {
    let whole = Value::Object(schema.clone());
    if is_too_deep(&whole) {
        let detail = format!("must not have more than {MAX_LEVELS} levels");
        return vec![FieldError::forbidden(path, &detail)];
    }
    let node = Node::read(&whole);
    let rules = RuleTree::read(&whole, &node);
    let mut walk = SchemaWalk::default();
    let place = Place {
        schema,
        is_root: true,
        has_status,
        in_metadata: false,
        is_own_field: false,
        is_declared: None,
    };
    let root = Step {
        place,
        structure: Some(schema),
        node: Some(&node),
        rules: rules.as_ref(),
        uncorrelatable: None,
    };
    walk.visit(root, path);
    if walk.errors.is_empty() {
        walk.errors = walk.compiled;
    }
    walk.errors
}

impl SchemaWalk {
    fn visit(&mut self, step: Step<'_>, path: &str) {
        self.errors.extend(keyword_errors(&step.place, path));
        if let Some(node) = step.node {
            if let Some(default) = node.default_value() {
                let path = format!("{path}.default");
                self.compiled
                    .extend(default_errors(node, step.rules, default, &path));
            }
            if let Some(rules) = step.rules {
                let found =
                    rule_errors(step.place.schema, (node, rules), path, step.uncorrelatable);
                self.compiled.extend(found);
            }
        }
        self.inside(step, path);
    }

    fn inside(&mut self, step: Step<'_>, path: &str) {
        let schema = step.place.schema;
        let below = Step {
            place: Place {
                is_root: false,
                is_own_field: false,
                ..step.place
            },
            ..step
        };
        if let Some(Value::Object(other)) = schema.get("additionalProperties") {
            let mut step = below.to(other, "additionalProperties");
            step.node = below.node.and_then(Node::values);
            step.rules = below.rules.and_then(RuleTree::values);
            self.visit(step, &format!("{path}.additionalProperties"));
        }
        if let Some(Value::Object(items)) = schema.get("items") {
            let is_keyed = text(schema, &["x-kubernetes-list-type"]) == Some("map");
            let mut step = below.to(items, "items");
            step.node = below.node.and_then(Node::items);
            step.rules = below.rules.and_then(RuleTree::items);
            step.uncorrelatable = below.uncorrelatable.or((!is_keyed).then_some(path));
            self.visit(step, &format!("{path}.items"));
        }
        let is_resource = step.place.is_root
            || schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
        for (name, property) in entries(schema, &["properties"]) {
            let Value::Object(property) = property else {
                continue;
            };
            let is_own = matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
            let mut inner = below.to_property(property, name);
            inner.place.in_metadata |= is_own && is_resource;
            inner.place.is_own_field = is_own && step.place.is_root;
            self.visit(inner, &format!("{path}.properties[{name}]"));
        }
        for key in ["allOf", "anyOf", "oneOf", "not"] {
            let branches = schema.get(key).filter(|list| !is_int_or_string(list));
            let list = branches.and_then(Value::as_array).into_iter().flatten();
            let one = branches.filter(|branch| branch.is_object());
            for (index, branch) in list.chain(one).enumerate() {
                if let Value::Object(branch) = branch {
                    let mut step = below;
                    step.place.schema = branch;
                    step.place.is_declared = Some(step.structure.is_some());
                    (step.node, step.rules) = (None, None);
                    let index = if key == "not" {
                        String::new()
                    } else {
                        format!("[{index}]")
                    };
                    self.visit(step, &format!("{path}.{key}{index}"));
                }
            }
        }
    }
}

impl<'a> Step<'a> {
    /// The step to the schema under a keyword.
    fn to(mut self, schema: &'a Object, keyword: &str) -> Self {
        self.structure = self.structure.and_then(|s| s.get(keyword)?.as_object());
        self.at(schema)
    }

    fn to_property(mut self, schema: &'a Object, name: &str) -> Self {
        let properties = self.structure.and_then(|s| s.get("properties"));
        self.structure = properties.and_then(|p| p.get(name)?.as_object());
        self.node = self.node.and_then(|node| node.property(name));
        self.rules = self.rules.and_then(|rules| rules.property(name));
        self.at(schema)
    }

    fn at(mut self, schema: &'a Object) -> Self {
        self.place.schema = schema;
        let is_declared = self.structure.is_some();
        self.place.is_declared = self.place.is_declared.map(|_| is_declared);
        self
    }
}

fn is_too_deep(schema: &Value) -> bool {
    let mut left = vec![(schema, 0)];
    while let Some((value, depth)) = left.pop() {
        if depth > MAX_LEVELS {
            return true;
        }
        match value {
            Value::Object(map) => left.extend(map.values().map(|inner| (inner, depth + 1))),
            Value::Array(list) => left.extend(list.iter().map(|inner| (inner, depth + 1))),
            _ => {}
        }
    }
    false
}
