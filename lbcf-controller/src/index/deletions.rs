//! Deletions of records whose deregistration has not begun.

use super::store::Diff;
use crate::api::{BackendRecord, ObjectExt, ObjectKey};
use std::collections::HashSet;

/// The deletions that this process has seen since it leads, and whose deregistrations have not begun. Of others that
/// is not known: an earlier leader may have begun them.
#[derive(Debug, Default)]
pub(super) struct Deletions(pub(super) HashSet<ObjectKey>);

impl Deletions {
    pub(super) fn update(&mut self, key: &ObjectKey, diff: &Diff<BackendRecord>) {
        match (&diff.old, &diff.new) {
            (Some(old), Some(new)) if !old.is_deleting() && new.is_deleting() => {
                if old.metadata.uid == new.metadata.uid {
                    self.0.insert(key.clone());
                }
            }
            (_, Some(new)) if new.is_deleting() => {}
            _ => drop(self.0.remove(key)),
        }
    }
}
