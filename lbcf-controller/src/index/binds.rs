//! Binds and the drivers they use.

use super::multi_map::MultiMap;
use super::table::{Diff, Table};
use super::{Change, Lookup};
use crate::api::{Bind, Conditions, condition_types};
use crate::key::{BindLoadBalancerKey, ObjectKey};
use crate::names;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Binds {
    table: Table<Bind>,
    by_driver: MultiMap<ObjectKey, BindLoadBalancerKey>,
    /// Binds by the driver that they ask about pods that are not ready.
    by_judge: MultiMap<ObjectKey, ObjectKey>,
}

/// Whom a change concerns.
#[derive(Debug, Default)]
pub(super) struct Wake {
    /// Its records have to be decided anew.
    pub(super) records: bool,
    /// The Bind itself has to be looked at: it may be going.
    pub(super) itself: bool,
    /// These load balancers of it have to be looked at.
    pub(super) load_balancers: BTreeSet<String>,
}

impl Binds {
    /// Takes a change in; gives what it changed and whom that concerns.
    pub(super) fn change(&mut self, change: Change<Bind>) -> Vec<(ObjectKey, Diff<Bind>, Wake)> {
        let diffs = self.table.change(change);
        let mut changes = Vec::with_capacity(diffs.len());
        for (key, diff) in diffs {
            if let Some(old) = &diff.old {
                for (driver, lb) in drivers(&key, old) {
                    self.by_driver.remove(&driver, &lb);
                }
                if let Some(driver) = judge(&key, old) {
                    self.by_judge.remove(&driver, &key);
                }
            }
            if let Some(new) = &diff.new {
                for (driver, lb) in drivers(&key, new) {
                    self.by_driver.insert(driver, lb);
                }
                if let Some(driver) = judge(&key, new) {
                    self.by_judge.insert(driver, key.clone());
                }
            }
            let wake = wake(&diff);
            changes.push((key, diff, wake));
        }
        changes
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<Bind>> {
        self.table.get(key)
    }

    pub(super) fn peek(&self, key: &ObjectKey) -> Option<&Arc<Bind>> {
        self.table.peek(key)
    }

    /// Whether a load balancer may be waiting for the last of its records to go.
    pub(super) fn is_leaving(&self, lb: &BindLoadBalancerKey) -> bool {
        self.table.peek(&lb.bind).is_some_and(|bind| {
            let there = bind.status.iter();
            let mut there = there.flat_map(|status| &status.load_balancer_statuses);
            bind.metadata.deletion_timestamp.is_some()
                || there.any(|there| there.name == lb.name && there.deletion_timestamp.is_some())
        })
    }

    pub(super) fn of_driver(
        &self,
        driver: &ObjectKey,
    ) -> impl Iterator<Item = &BindLoadBalancerKey> {
        self.by_driver.get(driver)
    }

    pub(super) fn of_judge(&self, driver: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_judge.get(driver).cloned()
    }
}

/// The load balancers of a Bind by driver: those that it wants, and those that are still there.
fn drivers(key: &ObjectKey, bind: &Bind) -> BTreeSet<(ObjectKey, BindLoadBalancerKey)> {
    let wanted = bind.spec.load_balancers.iter();
    let wanted = wanted.map(|lb| (&lb.driver, &lb.name));
    let there = bind
        .status
        .iter()
        .flat_map(|status| &status.load_balancer_statuses);
    let there = there.map(|lb| (&lb.driver, &lb.name));
    wanted
        .chain(there)
        .map(|(driver, name)| {
            let lb = BindLoadBalancerKey {
                bind: key.clone(),
                name: name.clone(),
            };
            (names::resolve(&key.namespace, driver), lb)
        })
        .collect()
}

fn judge(key: &ObjectKey, bind: &Bind) -> Option<ObjectKey> {
    let webhook = bind.spec.deregister_webhook.as_ref()?;
    Some(names::resolve(&key.namespace, &webhook.driver_name))
}

/// A load balancer's own status writes are no reason to look at it again: it would forget its
/// back-off.
fn wake(diff: &Diff<Bind>) -> Wake {
    let (old, new) = match (&diff.old, &diff.new) {
        (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => (old, new),
        (_, Some(new)) => {
            // Without its finalizer nothing is begun; storing that wakes them.
            let load_balancers = if has_finalizer(new) {
                names_of(new)
            } else {
                BTreeSet::new()
            };
            return Wake {
                records: true,
                itself: true,
                load_balancers,
            };
        }
        (Some(old), None) => {
            return Wake {
                records: true,
                itself: true,
                // Whatever back-off they had is over.
                load_balancers: names_of(old),
            };
        }
        (None, None) => return Wake::default(),
    };
    let is_changed = old.spec != new.spec
        || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        || old.metadata.finalizers != new.metadata.finalizers;
    if is_changed {
        return Wake {
            records: true,
            itself: true,
            load_balancers: &names_of(old) | &names_of(new),
        };
    }
    let gone = &names_of(old) - &status_names(new);
    let gone = &gone & &status_names(old);
    Wake {
        records: use_of(old) != use_of(new),
        itself: !gone.is_empty(),
        load_balancers: gone,
    }
}

fn has_finalizer(bind: &Bind) -> bool {
    let mut finalizers = bind.metadata.finalizers.iter().flatten();
    finalizers.any(|finalizer| finalizer == names::FINALIZER_LOAD_BALANCER)
}

/// The names of a Bind's load balancers: those that it wants, and those that are still there.
pub(super) fn names_of(bind: &Bind) -> BTreeSet<String> {
    let wanted = bind.spec.load_balancers.iter().map(|lb| lb.name.clone());
    wanted.chain(status_names(bind)).collect()
}

fn status_names(bind: &Bind) -> BTreeSet<String> {
    let there = bind
        .status
        .iter()
        .flat_map(|status| &status.load_balancer_statuses);
    there.map(|lb| lb.name.clone()).collect()
}

/// What records see of a Bind's load balancers.
fn use_of(bind: &Bind) -> impl PartialEq + use<> {
    let there = bind
        .status
        .iter()
        .flat_map(|status| &status.load_balancer_statuses);
    there
        .map(|lb| {
            (
                lb.name.clone(),
                lb.driver.clone(),
                lb.lb_info.clone(),
                lb.deletion_timestamp.is_some(),
                lb.conditions.is_true(condition_types::CREATED),
            )
        })
        .collect::<Vec<_>>()
}
