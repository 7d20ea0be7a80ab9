//! Objects with the annotation that keeps drivers from being called for them and their records.

use super::Index;
use super::store::Diff;
use crate::api::names::is_paused;
use crate::api::{BackendRecord, LoadBalancer, ObjectKey};
use crate::index::records::load_balancer_of;
use crate::index::request::{Owner, Request, RequestKey};
use kube::Resource;
use std::sync::Arc;

impl Index {
    pub(crate) fn is_owner_paused(&self, owner: &Owner) -> bool {
        let object = self.backend_owner(owner);
        object.is_some_and(|object| is_paused(object.metadata()))
    }

    /// The paused object that a record belongs to, by its owner or by its load balancer.
    pub(crate) fn paused_by(&self, record: &BackendRecord) -> Option<RequestKey> {
        let owner = Owner::of(record).filter(|owner| self.is_owner_paused(owner));
        owner.map(|owner| owner.request_key()).or_else(|| {
            let key = load_balancer_of(record);
            let RequestKey::LoadBalancer(lb) = &key else {
                return None;
            };
            let lb = self.find::<LoadBalancer>(lb)?;
            is_paused(&lb.metadata).then_some(key)
        })
    }

    /// The records of an object that is not paused any more.
    pub(super) fn resumed<K: Resource>(
        diff: &Diff<K>,
        records: impl Iterator<Item = ObjectKey>,
    ) -> Vec<Request> {
        let paused = |state: &Option<Arc<K>>| state.as_ref().map(|it| is_paused(it.meta()));
        match (paused(&diff.old), paused(&diff.new)) {
            (Some(true), Some(false)) => {
                let records = records.map(RequestKey::Record);
                records.map(Request::normal).collect()
            }
            _ => Vec::new(),
        }
    }
}

pub(super) fn is_pause_changed<K: Resource>(diff: &Diff<K>) -> bool {
    diff.is_change(|old, new| is_paused(old.meta()) != is_paused(new.meta()))
}
