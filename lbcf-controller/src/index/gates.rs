//! Which pods' readiness gates have to be reconciled after an event.
//!
//! Pods without the gate cost a look-up of the pod when a record's registration changes, and nothing
//! else.

use super::Index;
use super::pods::PodView;
use super::records::{counts_as_registered, namespace_of};
use super::selections::Selections;
use super::slices::Endpoint;
use super::store::Diff;
use crate::api::{BackendRecord, ObjectKey};
use crate::index::request::{Owner, Request, RequestKey, Unit};
use std::sync::Arc;

/// The request of a pod that was added or has changed, if it has the gate.
pub(super) fn of_pod(key: &ObjectKey, pod: &PodView) -> Option<Request> {
    pod.gate?;
    Some(Request::normal(RequestKey::Pod(key.clone())))
}

/// The requests of the pods that an owner selects and that wait for their gate.
pub(super) fn of_owner(selections: &Selections, owner: &Owner) -> Vec<Request> {
    requests(owner, selections.waiting_for_gate.get(owner))
}

/// The requests of those of these endpoints' pods that the owner selects and that wait for their gate.
pub(super) fn of_endpoints<'a>(
    selections: &Selections,
    owner: &Owner,
    endpoints: impl Iterator<Item = &'a Endpoint>,
) -> Vec<Request> {
    let targets = endpoints.filter_map(|endpoint| endpoint.pod.as_ref());
    let names = targets.map(|target| &target.name);
    let is_waiting = |name: &&Unit| selections.waiting_for_gate.contains(owner, &***name);
    requests(owner, names.filter(is_waiting))
}

fn requests<'a>(owner: &Owner, pods: impl Iterator<Item = &'a Unit>) -> Vec<Request> {
    let namespace = &owner.key().namespace;
    let keys = pods.map(|name| ObjectKey::new(Arc::clone(namespace), Arc::clone(name)));
    keys.map(RequestKey::Pod).map(Request::normal).collect()
}

impl Index {
    /// The owners that select a pod.
    pub(crate) fn owners_of_pod(&self, pod: &ObjectKey) -> Vec<Owner> {
        self.selections.of_pod.get(pod).cloned().collect()
    }

    /// True if an owner's record of this name is registered and stays so.
    pub(crate) fn is_registered_by(&self, owner: &Owner, name: &str) -> bool {
        let key = ObjectKey::new(Arc::clone(&owner.key().namespace), name);
        let record = self.records.store.find(&key);
        record.is_some_and(|record| {
            counts_as_registered(record) && Owner::of(record).as_ref() == Some(owner)
        })
    }

    /// The request of a record's pod, if that has the gate and the record became registered or ceased to be.
    pub(super) fn gate_of_record(&self, diff: &Diff<BackendRecord>) -> Option<Request> {
        let [was, is] = [&diff.old, &diff.new].map(|record| {
            let record = record.as_deref();
            record.is_some_and(counts_as_registered)
        });
        if was == is {
            return None;
        }
        let record = diff.new.as_ref().or(diff.old.as_ref())?;
        let name = record.spec.pod_backend.as_ref()?.name.as_str();
        let key = ObjectKey::new(namespace_of(record), name);
        of_pod(&key, self.pods.store.find(&key)?)
    }
}
