//! Which groups stand on which service and which nodes.

use super::multi_map::MultiMap;
use crate::api::{BackendGroup, ServiceSelection};
use crate::key::ObjectKey;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct ServiceGroups {
    by_service: MultiMap<ObjectKey, ObjectKey>,
    /// Groups that take every node.
    of_any_node: BTreeSet<ObjectKey>,
    /// Groups by one of the node labels that they ask for.
    by_node_label: MultiMap<(String, String), ObjectKey>,
}

impl ServiceGroups {
    pub(super) fn learn(&mut self, key: &ObjectKey, group: &BackendGroup) {
        let Some(service) = service_of(group) else {
            return;
        };
        self.by_service
            .insert(service_key(key, service), key.clone());
        match posting(service) {
            Some(label) => self.by_node_label.insert(label, key.clone()),
            None => {
                self.of_any_node.insert(key.clone());
            }
        }
    }

    pub(super) fn forget(&mut self, key: &ObjectKey, group: &BackendGroup) {
        let Some(service) = service_of(group) else {
            return;
        };
        self.by_service.remove(&service_key(key, service), key);
        match posting(service) {
            Some(label) => self.by_node_label.remove(&label, key),
            None => {
                self.of_any_node.remove(key);
            }
        }
    }

    pub(super) fn of_service(&self, service: &ObjectKey) -> Vec<ObjectKey> {
        self.by_service.get(service).cloned().collect()
    }

    /// The groups that may take a node with these labels.
    pub(super) fn of_node(&self, labels: &BTreeMap<String, String>) -> BTreeSet<ObjectKey> {
        let by_label = labels
            .iter()
            .flat_map(|(label, value)| self.by_node_label.get(&(label.clone(), value.clone())));
        self.of_any_node.iter().chain(by_label).cloned().collect()
    }
}

/// The service that a group stands on; pods come first (b21).
pub(super) fn service_of(group: &BackendGroup) -> Option<&ServiceSelection> {
    let has_pods = group.spec.pods.is_some();
    group.spec.service.as_ref().filter(|_| !has_pods)
}

pub(super) fn service_key(group: &ObjectKey, service: &ServiceSelection) -> ObjectKey {
    ObjectKey::new(group.namespace.clone(), service.name.clone())
}

fn posting(service: &ServiceSelection) -> Option<(String, String)> {
    let (label, value) = service.node_selector.iter().next()?;
    Some((label.clone(), value.clone()))
}

/// Whether a group takes a node with these labels (b22).
#[must_use]
pub(crate) fn takes_node(service: &ServiceSelection, labels: &BTreeMap<String, String>) -> bool {
    service
        .node_selector
        .iter()
        .all(|(label, value)| labels.get(label) == Some(value))
}
