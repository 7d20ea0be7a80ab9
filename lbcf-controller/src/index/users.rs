//! The objects that use each driver, and the owners of backends on each Service and node.

use super::multi_map::MultiMap;
use super::store::Diff;
use crate::api::{ObjectKey, ServiceMode, ServiceSelection};
use crate::index::request::{Owner, RequestKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of a driver's users that a message lists.
const EXAMPLES: usize = 5;

/// The objects that need a driver, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DriverUse {
    Unused,
    /// Some of the objects that use it.
    Used(Vec<RequestKey>),
    /// Objects that cannot be parsed might use it.
    Unknown,
}

/// By driver: what has to be reconciled when the driver changes, and so what uses it.
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

#[derive(Debug, Default)]
pub(super) struct ServiceOwners {
    by_service: MultiMap<ObjectKey, Owner>,
    /// Owners without a node selector.
    of_any_node: BTreeSet<Owner>,
    /// Owners by one of the node labels that they select.
    by_node_label: MultiMap<(String, String), Owner>,
}

impl ServiceOwners {
    /// Replaces what an owner selected by what it selects now, if it is a Service.
    pub(super) fn update(
        &mut self,
        owner: &Owner,
        old: Option<&ServiceSelection>,
        new: Option<&ServiceSelection>,
    ) {
        if old == new {
            return;
        }
        for (service, is_present) in [(old, false), (new, true)] {
            if let Some(service) = service {
                self.set(owner, service, is_present);
            }
        }
    }

    fn set(&mut self, owner: &Owner, service: &ServiceSelection, is_present: bool) {
        let key = service_key(owner, service);
        self.by_service.set(key, owner.clone(), is_present);
        if service.mode() == ServiceMode::Endpoints {
            return;
        }
        match node_label(service) {
            Some(label) => self.by_node_label.set(label, owner.clone(), is_present),
            None if is_present => drop(self.of_any_node.insert(owner.clone())),
            None => drop(self.of_any_node.remove(owner)),
        }
    }

    pub(super) fn of_service(&self, service: &ObjectKey) -> Vec<Owner> {
        self.by_service.get(service).cloned().collect()
    }

    /// The owners that may select a node with these labels.
    pub(super) fn of_node(&self, labels: &BTreeMap<String, String>) -> BTreeSet<Owner> {
        let by_label = labels
            .iter()
            .flat_map(|(label, value)| self.by_node_label.get(&(label.clone(), value.clone())));
        self.of_any_node.iter().chain(by_label).cloned().collect()
    }
}

/// The Service that an owner selects, which is beside it.
pub(crate) fn service_key(owner: &Owner, service: &ServiceSelection) -> ObjectKey {
    ObjectKey::new(owner.key().namespace.clone(), service.name.as_str())
}

fn node_label(service: &ServiceSelection) -> Option<(String, String)> {
    let (label, value) = service.node_selector.iter().next()?;
    Some((label.clone(), value.clone()))
}

/// True if a selection includes nodes with these labels.
pub(crate) fn takes_node(service: &ServiceSelection, labels: &BTreeMap<String, String>) -> bool {
    service
        .node_selector
        .iter()
        .all(|(label, value)| labels.get(label) == Some(value))
}
