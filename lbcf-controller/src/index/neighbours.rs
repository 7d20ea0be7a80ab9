//! Records with the same address on the same load balancer, and which of them determines its
//! parameters (d41).

use super::Index;
use super::records::is_registered;
use crate::api::names::FINALIZER_BACKEND_RECORD;
use crate::api::{BackendRecord, ObjectExt, ObjectKey};
use crate::index::owner::Owner;
use jiff::Timestamp;
use std::sync::Arc;

/// Another record with a record's address on the same load balancer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Neighbour {
    pub record: Arc<BackendRecord>,
    /// True if the neighbour's parameters apply to the address instead of the record's.
    pub takes_precedence: bool,
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
                record,
                takes_precedence: precedence < own,
            });
        neighbours.collect()
    }

    fn precedence(&self, record: &BackendRecord) -> Precedence {
        let owner = Owner::of(record);
        let owner_meta = owner.as_ref().and_then(|owner| match owner {
            Owner::Group(key) => self.groups.find(key).map(|group| &group.metadata),
            Owner::Bind(key) => self.binds.find(key).map(|bind| &bind.metadata),
        });
        // The record of a deleted owner is as old as it is itself, until it is deleted as well.
        let created = owner_meta
            .and_then(|meta| meta.creation_timestamp.as_ref())
            .or(record.metadata.creation_timestamp.as_ref());
        let created = created.map_or(Timestamp::MAX, |created| created.0);
        (created, owner, ObjectKey::of(record))
    }
}

/// The fields of a record that its neighbours depend on; none if it has no address. Neighbours are
/// enqueued only if these change.
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
