//! CEL rules of schemas (`x-kubernetes-validations`).
//!
//! A library provides the language and Kubernetes' functions; `repair` adjusts parsed rules where
//! the library differs from Kubernetes. `check` type-checks rules, `run` evaluates them.

mod check;
mod functions;
mod repair;
mod rule;
mod run;
mod stack;
mod types;
mod value;

pub(crate) use self::rule::{RuleTree, find_field};
pub(crate) use self::run::{Ruled, ValidationResult, run};
