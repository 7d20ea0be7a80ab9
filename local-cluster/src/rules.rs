//! What a write may do and what it leads to, decided without store or network.
//!
//! Each rule takes objects and returns an object or a refusal; `writer` carries the decision out.

mod builtin;
mod complete;
mod create;
mod delete;
mod metadata;
mod options;
mod update;

pub(crate) use builtin::taken_addresses;
pub(crate) use complete::{FieldValidation, decode};
pub(crate) use create::{Stamp, forget_past, prepare_create};
pub(crate) use delete::{DeleteOptions, Deletion, Propagation, decide_deletion};
pub(crate) use metadata::{check_name, clean_metadata};
pub(crate) use options::WriteOptions;
pub(crate) use update::{Part, Update, decide_update, may_go};

/// The finalizer of a foreground deletion: the collector removes it when the dependents are gone.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an orphaning deletion: the collector removes it when the dependents are freed.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer of a definition whose custom resources are still to be deleted.
pub(crate) const DEFINITION_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
