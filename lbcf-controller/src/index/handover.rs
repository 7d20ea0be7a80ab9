//! Records that leave when others have come: those that wait for what replaces them, and those whose backend another
//! record is to register.

use super::Index;
use super::address::Address;
use super::deletions::Deletions;
use super::records::{counts_as_registered, load_balancer_of, namespace_of, unit_of};
use crate::api::{BackendRecord, ObjectExt, ObjectKey, PodBackendRecord};
use crate::index::request::{Owner, Unit};
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::Protocol;
use std::sync::Arc;

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

    /// True if a record exists and is not registered, or does not stay so.
    pub(crate) fn is_changing(&self, key: &ObjectKey) -> bool {
        let record = self.records.store.find(key);
        record.is_some_and(|it| !counts_as_registered(it) || self.records.leaving.contains(key))
    }

    /// Ends the wait of an owner's records, whose units are taken next. Returns how many waited.
    pub(crate) fn release_leaving(&mut self, owner: &Owner) -> usize {
        let waiting: Vec<ObjectKey> = self.records.leaving.waiting.get(owner).cloned().collect();
        for key in &waiting {
            self.release(owner, key);
        }
        waiting.len()
    }

    /// Ends the wait of a record, if one waits, that leaves room for another one at the same load balancer.
    pub(crate) fn release_for(&mut self, owner: &Owner, refused: &ObjectKey) -> Option<ObjectKey> {
        let records = &self.records;
        let load_balancer =
            |key: &ObjectKey| records.store.find(key).map(|it| load_balancer_of(it));
        let full = load_balancer(refused)?;
        let is_there = |key: &&ObjectKey| load_balancer(key).as_ref() == Some(&full);
        let key = records.leaving.waiting.get(owner).find(is_there)?.clone();
        self.release(owner, &key);
        Some(key)
    }

    fn release(&mut self, owner: &Owner, key: &ObjectKey) {
        if let Some(record) = self.records.store.find(key) {
            self.pending.mark(owner, unit_of(record), true);
        }
        self.records.leaving.waiting.remove(owner, key);
    }

    /// The owners and units of a pod's records that wait.
    pub(super) fn leaving_of_pod(&self, pod: &ObjectKey) -> Vec<(Owner, Unit)> {
        let records = self.records.of_pod(pod);
        let leaving = records.filter(|it| self.records.leaving.contains(&ObjectKey::of(&***it)));
        leaving
            .filter_map(|record| Some((Owner::of(record)?, unit_of(record).into())))
            .collect()
    }

    /// Forgets what was seen while another process may have led.
    pub(crate) fn begin_lead(&mut self) {
        self.records.deletions = Deletions::default();
    }

    pub(crate) fn begin_deregistration(&mut self, record: &BackendRecord) {
        self.records.deletions.0.remove(&ObjectKey::of(record));
    }

    /// True if a record is being deleted and its deregistration may have begun.
    pub(crate) fn is_deregistering(&self, record: &BackendRecord) -> bool {
        record.is_deleting() && !self.records.deletions.0.contains(&ObjectKey::of(record))
    }

    /// The record that is to register the backend of one that is being deleted, and has not done so.
    pub(crate) fn successor(&self, record: &BackendRecord) -> Option<String> {
        if !record.is_deleting() {
            return None;
        }
        let neighbours = self.records.neighbours(record);
        let mut neighbours = neighbours.iter().map(|it| &**it);
        let is_waiting =
            |other: &&BackendRecord| !other.is_deleting() && !counts_as_registered(other);
        let without_address = || {
            let pod = record.spec.pod_backend.as_ref()?;
            let pod = ObjectKey::new(namespace_of(record), pod.name.as_str());
            let mut others = self.records.of_pod(&pod).map(|it| &**it);
            others.find(|other| {
                Address::of(other).is_none()
                    && backend_of(other) == backend_of(record)
                    && is_waiting(other)
            })
        };
        let successor = neighbours.find(is_waiting).or_else(without_address);
        successor.map(ResourceExt::name_any)
    }
}

/// The port of a pod at a load balancer, for records of one namespace.
fn backend_of(record: &BackendRecord) -> impl PartialEq + use<'_> {
    let spec = &record.spec;
    let port =
        |pod: &PodBackendRecord| -> (i32, Protocol) { (pod.port.number(), pod.port.protocol()) };
    (
        &spec.lb_driver,
        &spec.lb_info,
        spec.pod_backend.as_ref().map(port),
    )
}
