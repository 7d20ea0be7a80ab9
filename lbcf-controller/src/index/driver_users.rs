//! Maps each driver to the objects that use it: they are enqueued when the driver changes, and it is
//! not deleted while they use it.

use super::multi_map::MultiMap;
use super::store::Diff;
use crate::api::ObjectKey;
use crate::index::request::RequestKey;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most users of a driver that a message lists: a driver may have thousands.
const EXAMPLES: usize = 5;

/// A driver that is being deleted keeps its finalizer unless it is `Unused`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DriverUse {
    Unused,
    /// Some of the objects that use it.
    Used(Vec<RequestKey>),
    /// Objects that cannot be parsed might use it (u9).
    Unknown,
}

/// By driver: what has to be reconciled when the driver changes, and so what uses it (d12).
#[derive(Debug, Default)]
pub(super) struct DriverUsers(MultiMap<ObjectKey, RequestKey>);

impl DriverUsers {
    /// Replaces the entries of an object's old state by those of its new state. Returns the drivers
    /// that now have their first user or lost their last one.
    pub(super) fn update<T, E>(
        &mut self,
        diff: &Diff<T>,
        entries: impl Fn(&T) -> E,
    ) -> BTreeSet<ObjectKey>
    where
        E: IntoIterator<Item = (ObjectKey, RequestKey)>,
    {
        let entries_of = |state: &Option<Arc<T>>| -> BTreeSet<(ObjectKey, RequestKey)> {
            let entries = state.as_deref().map(&entries);
            entries.into_iter().flatten().collect()
        };
        let (old, new) = (entries_of(&diff.old), entries_of(&diff.new));
        let mut drivers = BTreeSet::new();
        for (driver, user) in new.difference(&old) {
            if self.0.count(driver) == 0 {
                drivers.insert(driver.clone());
            }
            self.0.insert(driver.clone(), user.clone());
        }
        for (driver, user) in old.difference(&new) {
            self.0.remove(driver, user);
            if self.0.count(driver) == 0 {
                drivers.insert(driver.clone());
            }
        }
        drivers
    }

    /// The requests that depend on a driver.
    pub(super) fn get(&self, driver: &ObjectKey) -> impl Iterator<Item = &RequestKey> {
        self.0.get(driver)
    }

    /// The objects that use a driver. A Bind that uses it several times in a row is repeated.
    pub(super) fn objects(&self, driver: &ObjectKey) -> impl Iterator<Item = RequestKey> {
        self.get(driver).map(|user| match user {
            RequestKey::BindLoadBalancer(key) => RequestKey::Bind(key.bind.clone()),
            user => user.clone(),
        })
    }

    /// The first few of the objects that use a driver.
    pub(super) fn examples(&self, driver: &ObjectKey) -> Vec<RequestKey> {
        let mut examples = Vec::new();
        for user in self.objects(driver) {
            if examples.len() == EXAMPLES {
                break;
            }
            if !examples.contains(&user) {
                examples.push(user);
            }
        }
        examples
    }
}
