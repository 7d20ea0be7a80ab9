//! The rules of writes: defaulting, validation, preconditions and deletion, without store or
//! network.
//!
//! Each takes objects and returns an object or an error; `writer` stores the result.

mod builtin;
mod complete;
mod create;
mod delete;
mod metadata;
mod options;
mod update;

pub(crate) use complete::decode;
pub(crate) use create::{Stamp, forget_past, prepare_create};
pub(crate) use delete::{DeleteOptions, Deletion, Propagation, decide_deletion};
pub(crate) use metadata::{check_name, clean_metadata};
pub(crate) use options::{FieldValidation, Part, WriteOptions};
pub(crate) use update::{Update, decide_update, is_removable};

/// The finalizer of a foreground deletion; the garbage collector removes it once no dependents are
/// left.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an orphaning deletion; the garbage collector removes it once the dependents
/// have no reference to the owner.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer of a definition until its custom resources are deleted.
pub(crate) const DEFINITION_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
