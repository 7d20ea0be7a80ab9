//! Rules of schemas in CEL (`x-kubernetes-validations`).
//!
//! The language and Kubernetes' functions are a library's; what it lacks or does otherwise than
//! Kubernetes is mended in the parsed rule (`repair`). `check` refuses what cannot work for any object,
//! `run` asks the rules of a schema about one.

mod check;
mod field_path;
mod functions;
mod repair;
mod rule;
mod run;
mod stack;
mod types;
mod value;

pub(crate) use field_path::find_field;
pub(crate) use rule::Rule;
pub(super) use run::{run, run_at};
