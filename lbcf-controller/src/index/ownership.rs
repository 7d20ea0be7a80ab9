//! The relations of records to their owners and to each other: the existence of the owner, and which of the records with the
//! same address on the same load balancer determines its parameters.

use super::records::is_registered;
use super::store::Diff;
use super::{Index, Lookup};
use crate::api::names::FINALIZER_BACKEND_RECORD;
use crate::api::{BackendGroup, BackendRecord, Bind, ObjectExt, ObjectKey};
use crate::index::request::{Owner, Request, RequestKey, controller_of};
use jiff::Timestamp;
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

/// Another record with a record's address on the same load balancer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Neighbour {
    pub record: Arc<BackendRecord>,
    /// True if its parameters take precedence over the record's.
    pub takes_precedence: bool,
    /// True if its deregistration may have begun.
    pub is_deregistering: bool,
}

/// The smallest takes precedence: the age of the owner, then the names. A record has a new age
/// whenever its pod is replaced, which therefore decides nothing.
type Precedence = (Timestamp, Option<Owner>, ObjectKey);

impl Index {
    /// The neighbours of a record, in the order of precedence.
    pub(crate) fn neighbours(&self, record: &BackendRecord) -> Vec<Neighbour> {
        let neighbours = self.records.neighbours(record);
        if neighbours.is_empty() {
            return Vec::new();
        }
        let own = self.precedence(record);
        let with_precedence = |record: Arc<BackendRecord>| (self.precedence(&record), record);
        let mut neighbours: Vec<_> = neighbours.into_iter().map(with_precedence).collect();
        neighbours.sort_by(|(a, _), (b, _)| a.cmp(b));
        let neighbours = neighbours
            .into_iter()
            .map(|(precedence, record)| Neighbour {
                is_deregistering: self.is_deregistering(&record),
                record,
                takes_precedence: precedence < own,
            });
        neighbours.collect()
    }

    fn precedence(&self, record: &BackendRecord) -> Precedence {
        let owner = Owner::of(record);
        let object = owner.as_ref().and_then(|owner| self.backend_owner(owner));
        // The record of a deleted owner is as old as it is itself, until it is deleted as well.
        let created = object
            .and_then(|object| object.metadata().creation_timestamp.as_ref())
            .or(record.metadata.creation_timestamp.as_ref());
        let created = created.map_or(Timestamp::MAX, |created| created.0);
        (created, owner, ObjectKey::of(record))
    }
}

/// The state of a record that its neighbours depend on; none if it has no address.
pub(super) fn claim_of(record: &BackendRecord) -> Option<impl PartialEq + use<'_>> {
    let addr = record.status.as_ref()?.backend_addr.as_str();
    let spec = &record.spec;
    (!addr.is_empty()).then(|| {
        (
            (addr, &spec.lb_driver, &spec.lb_info, &spec.parameters),
            record.is_deleting(),
            record.has_finalizer(FINALIZER_BACKEND_RECORD),
            is_registered(record),
        )
    })
}
