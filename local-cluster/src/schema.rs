//! Structural schemas of custom resources: defaulting, pruning, validation and CEL rules.
//!
//! A definition's schema is compiled once, into a [`Node`] for each level with its patterns and
//! rules. Everything else walks a value and its schema together.

mod cel;
mod correlate;
mod defaulting;
mod embedded;
mod format;
mod list_type;
mod message;
mod node;
mod path;
mod pattern;
mod prune;
mod validate;

use serde_json::Value;

use crate::field_error::FieldError;
use correlate::CorrelatedValue;
use message::ErrorType;

pub(crate) use cel::{ValidationRule, find_field};
pub(crate) use format::is_known as is_known_format;
pub(crate) use message::{json_text, shown};
pub(crate) use node::Node;
use path::NIL_PATH;
pub(crate) use pattern::compile as compile_pattern;

/// Errors of an object, and warnings of its rules.
#[derive(Debug, Default)]
pub(crate) struct ValidationResult {
    pub(crate) errors: Vec<FieldError>,
    /// Errors of values that the update does not change (ratcheting).
    pub(crate) warnings: Vec<String>,
}

/// The compiled schema of a kind.
#[derive(Debug)]
pub(crate) struct Schema {
    root: Node,
}

impl Schema {
    pub(crate) fn read(schema: &Value) -> Self {
        Self {
            root: Node::read(schema),
        }
    }

    /// Removes unknown fields and returns their paths.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        prune::prune(&self.root, object)
    }

    pub(crate) fn fill(&self, object: &mut Value) {
        defaulting::fill(&self.root, object);
    }

    pub(crate) fn check_create(&self, object: &Value) -> ValidationResult {
        let mut errors = validate::validate(&self.root, object, None, "");
        errors.extend(embedded::check(&self.root, object));
        errors.extend(list_type::check(&self.root, object));
        self.with_rules(errors, object, None)
    }

    /// Validates an update; errors of unchanged values are dropped.
    pub(crate) fn check_update(&self, new: &Value, old: &Value) -> ValidationResult {
        let node = &self.root;
        let correlated = CorrelatedValue { node, new, old };
        let mut errors = validate::validate(node, new, Some(&correlated), "");
        errors.extend(embedded::check(node, new));
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
        let errors = list_type::check(&self.root, new);
        if errors.is_empty() || list_type::check(&self.root, old).is_empty() {
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
        if self.root.rule_depth.is_none() {
            return ValidationResult {
                errors,
                ..ValidationResult::default()
            };
        }
        if errors.iter().any(ErrorType::blocks_rules) {
            errors.push(ErrorType::Invalid.at(
                NIL_PATH,
                Some("null"),
                "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
            ));
            return ValidationResult {
                errors,
                ..ValidationResult::default()
            };
        }
        let mut result = cel::run(&self.root, new, old);
        errors.append(&mut result.errors);
        ValidationResult { errors, ..result }
    }
}

#[cfg(test)]
mod tests;
