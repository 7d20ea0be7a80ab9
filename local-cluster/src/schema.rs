//! Structural schemas of custom resources: defaulting, pruning, validation and CEL rules.
//!
//! A definition's schema is compiled once, into a [`Node`] for each level with its patterns, and a
//! [`RuleTree`] of its rules. Everything else walks a value and its schema together.

mod cel;
mod correlate;
mod decode;
mod extensions;
mod format;
mod message;
mod node;
mod pattern;
mod validate;

use serde_json::Value;

pub(crate) use self::cel::{RuleTree, ValidationResult, find_field};
pub(crate) use self::format::is_known as is_known_format;
pub(crate) use self::node::Node;
pub(crate) use self::pattern::compile as compile_pattern;

use self::correlate::CorrelatedValue;
use self::message::{FieldPath, NIL_PATH, shown};
use crate::field_error::{ErrorType, FieldError};

/// The compiled schema of a kind.
#[derive(Debug)]
pub(crate) struct Schema {
    root: Node,
    rules: Option<RuleTree>,
}

impl Schema {
    pub(crate) fn read(schema: &Value) -> Self {
        let root = Node::read(schema);
        Self {
            rules: RuleTree::read(schema, &root),
            root,
        }
    }

    /// Removes unknown fields and returns their paths.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        decode::prune(&self.root, object)
    }

    pub(crate) fn fill(&self, object: &mut Value) {
        decode::fill(&self.root, object);
    }

    pub(crate) fn check_create(&self, object: &Value) -> ValidationResult {
        let mut errors = validate::validate(&self.root, object, None, "");
        errors.extend(extensions::check_embedded(&self.root, object));
        errors.extend(extensions::check_lists(&self.root, object));
        self.with_rules(errors, object, None)
    }

    /// Validates an update; errors of unchanged values are dropped.
    pub(crate) fn check_update(&self, new: &Value, old: &Value) -> ValidationResult {
        let node = &self.root;
        let correlated = CorrelatedValue { node, new, old };
        let mut errors = validate::validate(node, new, Some(&correlated), "");
        errors.extend(extensions::check_embedded(node, new));
        errors.extend(self.new_duplicates(new, old));
        self.with_rules(errors, new, Some(old))
    }

    /// Validates an update of the status.
    pub(crate) fn check_status(&self, new: &Value, old: &Value) -> ValidationResult {
        let mut errors = Vec::new();
        if let (Some(node), Some(status)) = (self.root.property("status"), new.get("status")) {
            let correlated = old.get("status").map(|old| CorrelatedValue {
                node,
                new: status,
                old,
            });
            errors = validate::validate(node, status, correlated.as_ref(), "status");
        }
        errors.extend(self.new_duplicates(new, old));
        self.with_rules(errors, new, Some(old))
    }

    /// Errors of duplicate items, unless the old object had some.
    fn new_duplicates(&self, new: &Value, old: &Value) -> Vec<FieldError> {
        let errors = extensions::check_lists(&self.root, new);
        if errors.is_empty() || extensions::check_lists(&self.root, old).is_empty() {
            errors
        } else {
            Vec::new()
        }
    }

    fn with_rules(
        &self,
        mut errors: Vec<FieldError>,
        new: &Value,
        old: Option<&Value>,
    ) -> ValidationResult {
        let mut warnings = Vec::new();
        if let Some(tree) = &self.rules {
            if errors.iter().any(blocks_rules) {
                errors.push(ErrorType::Invalid.at(
                    NIL_PATH,
                    Some("null"),
                    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
                ));
            } else {
                let node = &self.root;
                let schema = cel::Ruled { node, tree };
                let result = cel::run(schema, new, old, &FieldPath::root(""));
                errors.extend(result.errors);
                warnings = result.warnings;
            }
        }
        ValidationResult { errors, warnings }
    }
}

/// Rules may rely on the absence of such errors.
fn blocks_rules(error: &FieldError) -> bool {
    use ErrorType::{NotSupported, Required, TooLong, TooMany, WrongType};
    let kind = error.kind;
    matches!(
        kind,
        NotSupported | Required | TooLong | TooMany | WrongType
    )
}

/// Validates a default: on create, and on an update that does not change it. Pruning must not change it.
pub(crate) fn default_errors(
    node: &Node,
    rules: Option<&RuleTree>,
    value: &Value,
    place: &str,
) -> Vec<FieldError> {
    let mut errors = validate::validate(node, value, None, place);
    if !decode::prune(node, &mut value.clone()).is_empty() {
        let detail = "must not have unknown fields";
        errors.push(ErrorType::Invalid.at(place, Some(&shown(value)), detail));
    }
    if let (true, Some(tree)) = (errors.is_empty(), rules) {
        let (schema, path) = (cel::Ruled { node, tree }, FieldPath::root(place));
        for old in [Some(value), None] {
            let found = cel::run(schema, value, old, &path).errors;
            if !found.is_empty() {
                return found;
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests;
