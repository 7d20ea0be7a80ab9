//! Backend groups and the load balancers they use.

use super::multi_map::MultiMap;
use super::table::{Diff, Table};
use super::{Change, Lookup};
use crate::api::BackendGroup;
use crate::key::ObjectKey;
use crate::names;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Groups {
    table: Table<BackendGroup>,
    by_load_balancer: MultiMap<ObjectKey, ObjectKey>,
    /// Groups by the driver that they ask about pods that are not ready.
    by_judge: MultiMap<ObjectKey, ObjectKey>,
}

impl Groups {
    /// Takes a change in; gives what it changed.
    pub(super) fn change(
        &mut self,
        change: Change<BackendGroup>,
    ) -> Vec<(ObjectKey, Diff<BackendGroup>)> {
        let diffs = self.table.change(change);
        for (key, diff) in &diffs {
            if let Some(old) = &diff.old {
                for lb in load_balancers(key, old) {
                    self.by_load_balancer.remove(&lb, key);
                }
                if let Some(driver) = judge(key, old) {
                    self.by_judge.remove(&driver, key);
                }
            }
            if let Some(new) = &diff.new {
                for lb in load_balancers(key, new) {
                    self.by_load_balancer.insert(lb, key.clone());
                }
                if let Some(driver) = judge(key, new) {
                    self.by_judge.insert(driver, key.clone());
                }
            }
        }
        diffs
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<BackendGroup>> {
        self.table.get(key)
    }

    pub(super) fn peek(&self, key: &ObjectKey) -> Option<&Arc<BackendGroup>> {
        self.table.peek(key)
    }

    pub(super) fn of_load_balancer(&self, lb: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_load_balancer.get(lb).cloned()
    }

    pub(super) fn of_judge(&self, driver: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_judge.get(driver).cloned()
    }
}

fn load_balancers<'a>(
    key: &'a ObjectKey,
    group: &'a BackendGroup,
) -> impl Iterator<Item = ObjectKey> + 'a {
    let names = group.spec.load_balancer_names();
    names.map(|lb| names::resolve(&key.namespace, lb))
}

fn judge(key: &ObjectKey, group: &BackendGroup) -> Option<ObjectKey> {
    let webhook = group.spec.deregister_webhook.as_ref()?;
    Some(names::resolve(&key.namespace, &webhook.driver_name))
}

/// Whether a group has to be looked at again: our own status writes are no reason.
pub(super) fn is_concerned(diff: &Diff<BackendGroup>) -> bool {
    match (&diff.old, &diff.new) {
        (Some(old), Some(new)) => {
            old.spec != new.spec
                || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                || old.metadata.uid != new.metadata.uid
        }
        _ => true,
    }
}
