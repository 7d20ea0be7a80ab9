//! Patches, server-side apply, and managed fields.
//!
//! `layout` describes how values are divided into fields, `field_set` is a set of fields, and
//! `compare` and `merge` work on both. `managers` decodes and encodes `managedFields`; `ownership`
//! computes them after an update, `apply` after an apply.

mod apply;
mod compare;
mod field_set;
mod layout;
mod managers;
mod merge;
mod ownership;
mod strategic;
mod types;

pub(crate) use apply::Apply;
pub(crate) use layout::{ListRule, owned_rule, strategic_rule};
pub(crate) use ownership::{after_create, after_update, managers_error};
pub(crate) use types::{Patch, go_format};
