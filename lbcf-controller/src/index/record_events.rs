//! The requests that follow from the events of a record.

use super::ownership::claim_of;
use super::records::{counts_as_registered, load_balancer_of, unit_of, unregistered};
use super::store::Diff;
use super::{Index, Indexed, Store, StoreEvent, binds};
use crate::api::{BackendRecord, ObjectExt, ObjectKey, names};
use crate::index::request::{Owner, Request, RequestKey};
use std::sync::Arc;

impl Indexed for BackendRecord {
    const KIND: &'static str = "BackendRecord";

    fn store(index: &Index) -> &Store<Self> {
        &index.records.store
    }

    fn apply(index: &mut Index, mut event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        if let Some(record) = event.object_mut() {
            index.records.shared_maps.share(record);
            record.read_address();
        }
        // Comparing a record with what was written just now would find nothing.
        let is_own = matches!(event, StoreEvent::Written(_));
        for (key, diff) in index.records.store.apply(event) {
            index.records.update(&key, &diff);
            if diff.is_change(|old, new| old.spec.lb_driver != new.spec.lb_driver) {
                requests.extend(index.update_driver_users(&diff, |record| {
                    let driver = names::resolve(&key.namespace, &record.spec.lb_driver);
                    [(driver, RequestKey::Record(key.clone()))]
                }));
            }
            if !is_own {
                requests.extend(index.owners_to_compare(&diff));
            }
            requests.extend(index.neighbours_of_change(&diff));
            requests.extend(index.gate_of_record(&diff));
            let request_key = RequestKey::Record(key);
            match (&diff.old, &diff.new) {
                (Some(old), Some(new)) => {
                    if needs_reconciling(old, new) {
                        requests.push(Request::high_if(new.is_deleting(), request_key));
                    }
                    if counts_as_registered(old) != counts_as_registered(new)
                        && let Some(owner) = Owner::of(new)
                    {
                        requests.push(Request::batched(owner.request_key()));
                    }
                    if unregistered(old) != unregistered(new) {
                        requests.extend(index.quoting(new));
                    }
                }
                (None, Some(new)) => {
                    requests.push(Request::high_if(new.is_deleting(), request_key));
                }
                (Some(old), None) => {
                    // Its backoff ends with it.
                    requests.push(Request::normal(request_key));
                    requests.extend(index.after_removal_of(old));
                }
                (None, None) => {}
            }
        }
        requests
    }
}

/// Status writes do not enqueue a record, because that would end its backoff.
fn needs_reconciling(old: &BackendRecord, new: &BackendRecord) -> bool {
    let (was, is) = (&old.metadata, &new.metadata);
    was.generation != is.generation
        || was.deletion_timestamp != is.deletion_timestamp
        || was.uid != is.uid
        || was.finalizers != is.finalizers
        || was.owner_references != is.owner_references
        || (was.labels != is.labels && Owner::of(old) != Owner::of(new))
}

/// True if a record's owner has to compare it with the desired one again.
fn is_edited(old: &BackendRecord, new: &BackendRecord) -> bool {
    let (was, is) = (&old.metadata, &new.metadata);
    old.spec != new.spec
        || was.uid != is.uid
        || was.owner_references != is.owner_references
        || was.labels != is.labels
        || was.annotations != is.annotations
}

impl Index {
    /// A record that appears may not be wanted, and one that was edited has to be put back.
    /// Its owners before and after decide that; several edits are one request.
    fn owners_to_compare(&mut self, diff: &Diff<BackendRecord>) -> Vec<Request> {
        if diff.new.is_none() || !diff.is_change(is_edited) {
            return Vec::new();
        }
        let mut requests = Vec::new();
        for state in [&diff.old, &diff.new].into_iter().flatten() {
            if let Some(owner) = Owner::of(state)
                && self.contains_owner(&owner)
            {
                self.pending.mark(&owner, unit_of(state), false);
                requests.push(Request::batched(owner.request_key()));
            }
        }
        requests
    }

    /// The other records with a record's old or new address, if that or what they depend on of it
    /// changed. A record that is alone at its address is the usual case, and costs one look-up.
    fn neighbours_of_change(&self, diff: &Diff<BackendRecord>) -> Vec<Request> {
        let states = [diff.old.as_deref(), diff.new.as_deref()];
        let [old, new] = states.map(|record| record.and_then(claim_of));
        if old == new {
            return Vec::new();
        }
        let states = states.into_iter().flatten();
        let neighbours = states.flat_map(|record| self.records.neighbours(record));
        let keys = neighbours.map(|other| RequestKey::Record(ObjectKey::of(&*other)));
        keys.map(Request::normal).collect()
    }

    /// The requests that may have waited for a record to be removed, besides its neighbours: its owner, and its
    /// load balancer if that is being deleted. A load balancer that is not may be waiting for the
    /// time that its driver asked for.
    fn after_removal_of(&mut self, record: &BackendRecord) -> Vec<Request> {
        let mut keys = Vec::new();
        if let Some(owner) = Owner::of(record) {
            if self.contains_owner(&owner) {
                self.pending.mark(&owner, unit_of(record), false);
            }
            keys.push(owner.request_key());
        }
        keys.extend(self.deleting_load_balancer(record));
        keys.into_iter().map(Request::normal).collect()
    }

    /// Those whose condition quotes why this record is not registered, or not deregistered.
    fn quoting(&self, record: &BackendRecord) -> Vec<Request> {
        let key = ObjectKey::of(record);
        let is_first = |first: &Arc<BackendRecord>| ObjectKey::of(&**first) == key;
        let owner = Owner::of(record);
        let owner = owner.filter(|it| self.records.first_troubled(it).is_some_and(is_first));
        let lb = self.deleting_load_balancer(record);
        let lb = lb.filter(|lb| self.records.first_of_load_balancer(lb) == Some(&key));
        let keys = owner.map(|owner| owner.request_key()).into_iter().chain(lb);
        keys.map(Request::batched).collect()
    }

    /// The first record of a load balancer, and what delays it.
    pub(crate) fn first_record(&self, lb: &RequestKey) -> Option<String> {
        let key = self.records.first_of_load_balancer(lb)?;
        let cause = self.records.store.find(key).and_then(|it| unregistered(it));
        let cause = cause.map(|cause| format!(": {}", cause.cause()));
        Some(format!("{key}{}", cause.unwrap_or_default()))
    }

    fn deleting_load_balancer(&self, record: &BackendRecord) -> Option<RequestKey> {
        let lb = load_balancer_of(record);
        let is_deleting = match &lb {
            RequestKey::LoadBalancer(key) => {
                let lb = self.load_balancers.find(key);
                lb.is_some_and(|lb| lb.is_deleting())
            }
            RequestKey::BindLoadBalancer(key) => {
                let bind = self.binds.find(&key.bind);
                bind.is_some_and(|bind| binds::is_deleting(bind, &key.name))
            }
            _ => false,
        };
        is_deleting.then_some(lb)
    }
}
