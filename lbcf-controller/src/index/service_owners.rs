//! Owners of backends on a Service, by Service, and those whose backends are nodes by node.

use super::multi_map::MultiMap;
use crate::api::{ObjectKey, ServiceMode, ServiceSelection};
use crate::index::owner::Owner;
use std::collections::{BTreeMap, BTreeSet};

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

/// An empty node selector includes all nodes.
pub(crate) fn takes_node(service: &ServiceSelection, labels: &BTreeMap<String, String>) -> bool {
    service
        .node_selector
        .iter()
        .all(|(label, value)| labels.get(label) == Some(value))
}
