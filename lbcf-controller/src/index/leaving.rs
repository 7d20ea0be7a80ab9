//! Records that their owners no longer want and that stay until what replaces them is registered. They do not count
//! as registered.

use super::Index;
use super::multi_map::MultiMap;
use super::records::unit_of;
use crate::api::ObjectKey;
use crate::index::request::{Owner, Unit};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Leaving {
    all: HashSet<ObjectKey>,
    /// Those of them that still have to wait.
    waiting: MultiMap<Owner, ObjectKey>,
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

impl Index {
    /// Lets a record wait; returns false if it need not wait any longer.
    pub(crate) fn leave(&mut self, owner: &Owner, key: ObjectKey) -> bool {
        let records = &mut self.records;
        if records.leaving.contains(&key) {
            return records.leaving.waiting.contains(owner, &key);
        }
        if let Some(record) = records.store.find(&key).map(Arc::clone) {
            records.set_tally(&key, &record, false);
            records.leaving.waiting.insert(owner.clone(), key.clone());
            records.leaving.all.insert(key);
        }
        true
    }

    /// A record that is wanted again, if it was leaving.
    pub(crate) fn stay(&mut self, owner: &Owner, key: &ObjectKey) {
        let records = &mut self.records;
        if records.leaving.contains(key) {
            records.leaving.remove(owner, key);
            if let Some(record) = records.store.find(key).map(Arc::clone) {
                records.set_tally(key, &record, true);
            }
        }
    }

    /// True if any records wait, or have waited and are not deleted yet.
    pub(crate) fn has_leaving(&self) -> bool {
        !self.records.leaving.all.is_empty()
    }

    /// True if records of an owner wait.
    pub(crate) fn is_replacing(&self, owner: &Owner) -> bool {
        self.records.leaving.count_waiting(owner) > 0
    }

    /// Ends the wait of an owner's records, whose units are taken next. Returns how many waited.
    pub(crate) fn release_leaving(&mut self, owner: &Owner) -> usize {
        let waiting: Vec<ObjectKey> = self.records.leaving.waiting.get(owner).cloned().collect();
        for key in &waiting {
            if let Some(record) = self.records.store.find(key) {
                self.pending.mark(owner, unit_of(record), true);
            }
            self.records.leaving.waiting.remove(owner, key);
        }
        waiting.len()
    }

    /// The owners and units of a pod's records that wait.
    pub(super) fn leaving_of_pod(&self, pod: &ObjectKey) -> Vec<(Owner, Unit)> {
        let records = self.records.of_pod(pod);
        let leaving = records.filter(|it| self.records.leaving.contains(&ObjectKey::of(&***it)));
        leaving
            .filter_map(|record| Some((Owner::of(record)?, unit_of(record).into())))
            .collect()
    }
}
