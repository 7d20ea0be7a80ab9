//! CEL rules of schemas (`x-kubernetes-validations`).
//!
//! A library provides the language and Kubernetes' functions; `repair` adjusts parsed rules where
//! the library differs from Kubernetes. `check` type-checks rules, `cost` estimates what they cost,
//! `run` evaluates them.

mod bounds;
mod check;
mod cost;
mod functions;
mod repair;
mod rule;
mod run;
mod stack;
mod types;
mod value;

pub(crate) use self::rule::{RuleTree, ValidationRule, find_field};
pub(crate) use self::run::{Ruled, ValidationResult, run};
