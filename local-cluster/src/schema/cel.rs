//! CEL rules of schemas (`x-kubernetes-validations`).
//!
//! A library provides the language and Kubernetes' functions; `repair` adjusts parsed rules where
//! the library differs from Kubernetes. `check` type-checks rules, `cost` estimates what they cost,
//! `run` evaluates them.

mod bounds;
mod calls;
mod check;
mod cost;
mod field_path;
mod functions;
mod repair;
mod rule;
mod run;
mod stack;
mod types;
mod value;

pub(crate) use field_path::find_field;
pub(crate) use rule::{RuleTree, ValidationRule};
pub(crate) use run::{Ruled, ValidationResult, run};
