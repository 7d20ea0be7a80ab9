//! The ways to change an object by saying only what is different, and who manages its fields then.
//!
//! `layout` knows how values are taken apart, `field_set` is a set of fields, `compare` and `merge` are
//! made of both. `managers` reads and writes `managedFields`; `ownership` decides about them after an
//! update, `apply` after an apply.

mod apply;
mod change;
mod compare;
mod field_set;
mod json;
mod layout;
mod managers;
mod merge;
mod ownership;
mod scaled;
mod strategic;

pub(crate) use apply::Apply;
pub(crate) use change::Patch;
pub(crate) use layout::{ListRule, owned_rule, strategic_rule};
pub(crate) use ownership::{Unsaid, after_create, after_update, managers_error};
pub(crate) use scaled::{managers_after_scale, managers_of_scale};
