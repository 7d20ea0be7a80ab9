//! Groups on a service, by service, and those whose backends are nodes by node.

use super::multi_map::MultiMap;
use crate::api::{BackendGroup, ServiceMode, ServiceSelection};
use crate::key::ObjectKey;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct ServiceGroups {
    by_service: MultiMap<ObjectKey, ObjectKey>,
    /// Groups without a node selector.
    of_any_node: BTreeSet<ObjectKey>,
    /// Groups by one of the node labels that they select.
    by_node_label: MultiMap<(String, String), ObjectKey>,
}

impl ServiceGroups {
    /// Inserts or removes a group.
    pub(super) fn set(&mut self, key: &ObjectKey, group: &BackendGroup, is_present: bool) {
        let Some(service) = service_of(group) else {
            return;
        };
        let of_service = service_key(key, service);
        self.by_service.set(of_service, key.clone(), is_present);
        if service.mode() == ServiceMode::Endpoints {
            return;
        }
        match node_label(service) {
            Some(label) => self.by_node_label.set(label, key.clone(), is_present),
            None if is_present => drop(self.of_any_node.insert(key.clone())),
            None => drop(self.of_any_node.remove(key)),
        }
    }

    pub(super) fn of_service(&self, service: &ObjectKey) -> Vec<ObjectKey> {
        self.by_service.get(service).cloned().collect()
    }

    /// The groups that may select a node with these labels.
    pub(super) fn of_node(&self, labels: &BTreeMap<String, String>) -> BTreeSet<ObjectKey> {
        let by_label = labels
            .iter()
            .flat_map(|(label, value)| self.by_node_label.get(&(label.clone(), value.clone())));
        self.of_any_node.iter().chain(by_label).cloned().collect()
    }
}

/// The service of a group that selects no pods (b21).
pub(super) fn service_of(group: &BackendGroup) -> Option<&ServiceSelection> {
    let has_pods = group.spec.pods.is_some();
    group.spec.service.as_ref().filter(|_| !has_pods)
}

/// The service of a group whose backends are its nodes.
pub(super) fn nodes_of(group: &BackendGroup) -> Option<&ServiceSelection> {
    service_of(group).filter(|service| service.mode() == ServiceMode::NodePort)
}

/// The service of a group whose backends are its endpoints.
pub(crate) fn endpoints_of(group: &BackendGroup) -> Option<&ServiceSelection> {
    service_of(group).filter(|service| service.mode() == ServiceMode::Endpoints)
}

pub(super) fn service_key(group: &ObjectKey, service: &ServiceSelection) -> ObjectKey {
    ObjectKey::new(group.namespace.clone(), service.name.clone())
}

fn node_label(service: &ServiceSelection) -> Option<(String, String)> {
    let (label, value) = service.node_selector.iter().next()?;
    Some((label.clone(), value.clone()))
}

/// Whether a group selects a node with these labels (b22).
pub(crate) fn takes_node(service: &ServiceSelection, labels: &BTreeMap<String, String>) -> bool {
    service
        .node_selector
        .iter()
        .all(|(label, value)| labels.get(label) == Some(value))
}
