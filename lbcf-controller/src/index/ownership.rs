//! Determines if the owner of a record exists. A record without one is adopted or deleted.

use super::store::Diff;
use super::{Index, Lookup};
use crate::api::{BackendGroup, BackendRecord, Bind};
use crate::index::owner::{Owner, controller_of};
use crate::index::request::{Request, RequestKey};
use kube::Resource;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// Its controller exists, is of another kind, or cannot be parsed.
    Owned,
    /// It has no controller. The owner that its labels name exists, and adopts or deletes it.
    Adoptable,
    /// Its controller does not exist, or it has none and its labels name none that exists.
    Ownerless,
}

impl Index {
    pub(crate) fn ownership(&self, record: &BackendRecord) -> Ownership {
        let controller = controller_of(record);
        let Some(owner) = Owner::of(record) else {
            // A controller of another kind decides about its own records.
            return controller.map_or(Ownership::Ownerless, |_| Ownership::Owned);
        };
        let uid = match &owner {
            Owner::Group(key) => uid_of(self.get::<BackendGroup>(key)),
            Owner::Bind(key) => uid_of(self.get::<Bind>(key)),
        };
        match (uid, controller) {
            (Lookup::Unreadable, Some(_)) => Ownership::Owned,
            // Another object of the controller's name is not the controller.
            (Lookup::Found(uid), Some(controller)) if uid == controller.uid => Ownership::Owned,
            (Lookup::Found(_) | Lookup::Unreadable, None) => Ownership::Adoptable,
            _ => Ownership::Ownerless,
        }
    }

    /// The records of an owner that appeared, is gone, or is another object of the same name.
    pub(super) fn records_of_new_owner<K: Resource>(
        &self,
        owner: &Owner,
        diff: &Diff<K>,
    ) -> Vec<Request> {
        if !diff.is_change(|old, new| old.meta().uid != new.meta().uid) {
            return Vec::new();
        }
        let records = self.records.kept(owner).cloned().map(RequestKey::Record);
        records.map(Request::normal).collect()
    }
}

fn uid_of<K: Resource>(owner: Lookup<Arc<K>>) -> Lookup<String> {
    match owner {
        Lookup::Found(owner) => Lookup::Found(owner.meta().uid.clone().unwrap_or_default()),
        Lookup::Missing => Lookup::Missing,
        Lookup::Unreadable => Lookup::Unreadable,
    }
}
