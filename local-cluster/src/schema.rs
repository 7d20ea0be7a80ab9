//! Structural schemas of custom resources: defaulting, pruning, validation and rules.
//!
//! A definition's schema is read once, into a [`Node`] for each level; patterns and rules are compiled
//! with it. All else is one walk over value and schema side by side.

mod cel;
mod correlate;
mod embedded;
mod fill;
mod format;
mod list_type;
mod node;
mod path;
mod pattern;
mod prune;
mod validate;
mod wording;

use serde_json::Value;

use crate::field_error::FieldError;
use correlate::Past;
use wording::Fault;

pub(crate) use cel::{Rule, find_field};
pub(crate) use format::is_known as is_known_format;
pub(crate) use node::Node;
use path::NOWHERE;
pub(crate) use pattern::compile as compile_pattern;
pub(crate) use wording::{json_text, shown};

/// What checks came to.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) errors: Vec<FieldError>,
    /// What is wrong already and has not been changed.
    pub(crate) warnings: Vec<String>,
}

/// The schema of a kind, prepared.
#[derive(Debug)]
pub(crate) struct Schema {
    root: Node,
}

impl Schema {
    /// Reads a schema.
    pub(crate) fn read(schema: &Value) -> Self {
        Self {
            root: Node::read(schema),
        }
    }

    /// Removes fields that the schema does not know, and names them.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        prune::prune(&self.root, object)
    }

    /// Fills in the defaults.
    pub(crate) fn fill(&self, object: &mut Value) {
        fill::fill(&self.root, object);
    }

    /// Checks a new object.
    pub(crate) fn check_create(&self, object: &Value) -> Checked {
        let mut errors = validate::validate(&self.root, object, None, "");
        errors.extend(embedded::check(&self.root, object));
        errors.extend(list_type::check(&self.root, object));
        self.with_rules(errors, object, None)
    }

    /// Checks a changed object; what was wrong before and is unchanged may stay.
    pub(crate) fn check_update(&self, new: &Value, old: &Value) -> Checked {
        let node = &self.root;
        let past = Past { node, new, old };
        let mut errors = validate::validate(node, new, Some(&past), "");
        errors.extend(embedded::check(node, new));
        errors.extend(self.new_duplicates(new, old));
        self.with_rules(errors, new, Some(old))
    }

    /// Checks an object of which only the status was changed.
    pub(crate) fn check_status(&self, new: &Value, old: &Value) -> Checked {
        let mut errors = Vec::new();
        if let (Some(node), Some(status)) = (self.root.property("status"), new.get("status")) {
            let past = old.get("status").map(|old| Past {
                node,
                new: status,
                old,
            });
            errors = validate::validate(node, status, past.as_ref(), "status");
        }
        errors.extend(self.new_duplicates(new, old));
        self.with_rules(errors, new, Some(old))
    }

    /// Items that occur twice, unless there were some before.
    fn new_duplicates(&self, new: &Value, old: &Value) -> Vec<FieldError> {
        let errors = list_type::check(&self.root, new);
        if errors.is_empty() || list_type::check(&self.root, old).is_empty() {
            errors
        } else {
            Vec::new()
        }
    }

    fn with_rules(&self, mut errors: Vec<FieldError>, new: &Value, old: Option<&Value>) -> Checked {
        if self.root.rule_depth.is_none() {
            return Checked {
                errors,
                warnings: Vec::new(),
            };
        }
        if errors.iter().any(Fault::blocks_rules) {
            errors.push(Fault::Invalid.at(
                NOWHERE,
                Some("null"),
                "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
            ));
            return Checked {
                errors,
                warnings: Vec::new(),
            };
        }
        let verdict = cel::run(&self.root, new, old);
        errors.extend(verdict.errors);
        Checked {
            errors,
            warnings: verdict.warnings,
        }
    }
}

#[cfg(test)]
mod tests;
