//! Records that their owners no longer want and that stay until what replaces them is registered. They do not count
//! as registered.

use super::multi_map::MultiMap;
use crate::api::ObjectKey;
use crate::index::request::Owner;
use std::collections::HashSet;

#[derive(Debug, Default)]
pub(super) struct Leaving {
    pub(super) all: HashSet<ObjectKey>,
    /// Those of them that still have to wait.
    pub(super) waiting: MultiMap<Owner, ObjectKey>,
}

impl Leaving {
    pub(super) fn contains(&self, record: &ObjectKey) -> bool {
        self.all.contains(record)
    }

    pub(super) fn count_waiting(&self, owner: &Owner) -> usize {
        self.waiting.count(owner)
    }

    pub(super) fn remove(&mut self, owner: &Owner, record: &ObjectKey) {
        if self.all.remove(record) {
            self.waiting.remove(owner, record);
        }
    }
}
