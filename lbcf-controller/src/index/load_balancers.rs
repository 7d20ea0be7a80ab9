//! Load balancers, and whom their changes concern.

use super::multi_map::MultiMap;
use super::table::{Diff, Table};
use super::{Change, Lookup};
use crate::api::{Conditions, LoadBalancer, condition_types};
use crate::key::ObjectKey;
use crate::names;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct LoadBalancers {
    table: Table<LoadBalancer>,
    by_driver: MultiMap<ObjectKey, ObjectKey>,
}

/// Whom a change concerns.
pub(super) struct Wake {
    pub(super) key: ObjectKey,
    /// The load balancer itself has to be looked at.
    pub(super) itself: bool,
    /// The groups that use it have to be.
    pub(super) users: bool,
}

impl LoadBalancers {
    pub(super) fn change(&mut self, change: Change<LoadBalancer>) -> Vec<Wake> {
        let diffs = self.table.change(change);
        diffs
            .into_iter()
            .map(|(key, diff)| {
                if let Some(old) = &diff.old {
                    self.by_driver.remove(&driver_of(old), &key);
                }
                if let Some(new) = &diff.new {
                    self.by_driver.insert(driver_of(new), key.clone());
                }
                wake(key, &diff)
            })
            .collect()
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<LoadBalancer>> {
        self.table.get(key)
    }

    pub(super) fn is_deleting(&self, key: &ObjectKey) -> bool {
        self.table
            .peek(key)
            .is_some_and(|lb| lb.metadata.deletion_timestamp.is_some())
    }

    pub(super) fn of_driver(&self, driver: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_driver.get(driver).cloned()
    }
}

fn driver_of(lb: &LoadBalancer) -> ObjectKey {
    names::resolve(
        lb.metadata.namespace.as_deref().unwrap_or_default(),
        &lb.spec.lb_driver,
    )
}

/// Our own status writes concern nobody but the groups that wait for the load balancer: a load
/// balancer that is woken by them would forget its back-off.
fn wake(key: ObjectKey, diff: &Diff<LoadBalancer>) -> Wake {
    let (itself, users) = match (&diff.old, &diff.new) {
        (Some(old), Some(new)) => (
            old.metadata.generation != new.metadata.generation
                || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                || old.metadata.finalizers != new.metadata.finalizers
                || old.metadata.uid != new.metadata.uid,
            use_of(old) != use_of(new),
        ),
        _ => (true, true),
    };
    Wake { key, itself, users }
}

/// What groups see of a load balancer.
fn use_of(lb: &LoadBalancer) -> impl PartialEq + use<> {
    let status = lb.status.as_ref();
    (
        lb.metadata.deletion_timestamp.is_some(),
        status.is_some_and(|status| status.conditions.is_true(condition_types::CREATED)),
        status
            .map(|status| status.lb_info.clone())
            .unwrap_or_default(),
        lb.spec.scope.clone(),
        lb.spec.lb_driver.clone(),
    )
}
