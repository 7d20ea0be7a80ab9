//! Structural schemas of custom resources: defaulting, pruning and validation.
//!
//! Each is one walk over value and schema side by side. Schemas are kept as the JSON they came in:
//! a definition may say things this crate does not check (patterns, CEL rules), and these are then
//! ignored rather than lost.

mod fill;
mod keyword;
mod prune;
mod validate;

pub(crate) use fill::fill;
pub(crate) use prune::prune;
pub(crate) use validate::validate;
