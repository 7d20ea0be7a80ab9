//! The ways to change an object by saying only what is different.

mod apply;
mod change;
mod fields;
mod json;
mod strategic;

pub(crate) use apply::Apply;
pub(crate) use change::Patch;
pub(crate) use strategic::{ListRule, list_rule};
