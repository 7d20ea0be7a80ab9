//! Keeps the EndpointSlices of services that have a selector.
//!
//! A pod's event reconciles the services that select it, before or after, and plans the endpoints of that
//! pod alone; a service's event reads the pods with the rarest label of its selector.

mod desired;
mod plan;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta_v1;
use tokio::time::Instant;

use self::desired::{
    EndpointGroup, MANAGED_BY, MANAGER, SERVICE_NAME, endpoint_inputs, families, groups, has_slices,
};
use self::plan::{Scope, plan};
use super::indexes::{LabelIndex, MultiMap, SelectorIndex};
use super::pods::node_name;
use super::queues::Throttle;
use super::run::Controller;
use super::write;
use crate::object::{Object, entries, items, string, text};
use crate::rules::DeleteOptions;
use crate::selector::LabelSelector;
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

const ZONE: &str = "topology.kubernetes.io/zone";

type ObjectKey = (String, String);

#[derive(Debug, Default)]
pub(super) struct EndpointSlices {
    /// The services that have slices, by uid.
    service_keys: HashMap<String, ObjectKey>,
    selectors: SelectorIndex,
    pod_keys: HashMap<String, ObjectKey>,
    pod_labels: LabelIndex,
    /// The names of the slices of a service.
    slices_of: MultiMap<ObjectKey, String>,
    /// The revisions of this controller's own writes, whose events need no reconciliation.
    written: BTreeSet<u64>,
    dirty: BTreeSet<ObjectKey>,
    /// The uids of the pods that changed since a service's slices were as planned. A service without an
    /// entry is planned from all its pods.
    changed_pods: HashMap<ObjectKey, BTreeSet<String>>,
    throttle: Throttle<ObjectKey>,
}

impl Controller for EndpointSlices {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        *self = Self::default();
        for (resource, stored) in objects {
            self.apply(&StoreEvent::new(EventType::Added, resource, stored, None));
        }
    }

    fn apply(&mut self, event: &StoreEvent) {
        let (resource, stored) = (&event.resource, &*event.object);
        let before = event.previous.as_deref();
        let deleted = event.kind == EventType::Deleted;
        if resource.is("", "pods") {
            self.apply_pod(stored, before, deleted);
        } else if resource.is("", "services") {
            self.apply_service(stored, deleted);
        } else if resource.is("discovery.k8s.io", "endpointslices") {
            self.apply_slice(stored, before, deleted);
        }
    }

    async fn reconcile(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        let (ready, next) = self.throttle.take_ready(&mut self.dirty, now);
        for key in ready {
            let endpoints = self.reconcile_service(cluster, &key);
            self.throttle
                .add(key, endpoints.unwrap_or(0), Instant::now());
        }
        next
    }
}

impl EndpointSlices {
    fn apply_service(&mut self, service: &Stored, deleted: bool) {
        let uid = service.uid();
        let key = (service.namespace.clone(), service.name.clone());
        self.changed_pods.remove(&key);
        if deleted || !has_slices(&service.object) {
            self.service_keys.remove(uid);
            self.selectors.remove(uid);
            return;
        }
        let selector = selector(&service.object);
        self.selectors.insert(uid, &service.namespace, selector);
        self.service_keys.insert(uid.to_owned(), key.clone());
        self.dirty.insert(key);
    }

    fn apply_pod(&mut self, pod: &Stored, before: Option<&Stored>, deleted: bool) {
        let (uid, namespace) = (pod.uid(), &pod.namespace);
        if deleted {
            self.pod_labels.remove(uid);
            self.pod_keys.remove(uid);
        } else {
            let key = (namespace.clone(), pod.name.clone());
            self.pod_keys.insert(uid.to_owned(), key);
            self.pod_labels.insert(uid, namespace, &pod.object);
            let inputs = endpoint_inputs(&pod.object);
            if before.is_some_and(|before| endpoint_inputs(&before.object) == inputs) {
                return;
            }
        }
        for object in before.into_iter().chain([pod]) {
            let services = self.selectors.matching(namespace, &object.object);
            for key in services.iter().filter_map(|uid| self.service_keys.get(uid)) {
                self.dirty.insert(key.clone());
                if let Some(changed) = self.changed_pods.get_mut(key) {
                    changed.insert(uid.to_owned());
                }
            }
        }
    }

    fn apply_slice(&mut self, slice: &Stored, before: Option<&Stored>, deleted: bool) {
        let own = self.written.remove(&slice.revision);
        let before = before.map(|before| (before, false));
        for (version, exists) in before.into_iter().chain([(slice, !deleted)]) {
            let Some(service) = service_of(version) else {
                continue;
            };
            if exists {
                self.slices_of.insert(service.clone(), slice.name.clone());
            } else {
                self.slices_of.remove(&service, &slice.name);
            }
            if !own {
                self.changed_pods.remove(&service);
                self.dirty.insert(service);
            }
        }
    }

    /// Returns how many endpoints were planned or written, whichever is more.
    fn reconcile_service(&mut self, cluster: &Cluster, key: &ObjectKey) -> Option<usize> {
        let registry = &cluster.registry;
        let kind = registry.builtin("discovery.k8s.io", "endpointslices")?;
        let (namespace, name) = (key.0.as_str(), key.1.as_str());
        let services = Resource::new("", "services");
        let service = cluster.store.get(&services, namespace, name);
        let service = service.filter(|service| has_slices(&service.object))?;
        let changed = self.changed_pods.remove(key);
        let scope = changed.as_ref().map_or(Scope::All, Scope::Pods);
        let pods = self.pods_of(cluster, namespace, &service.object, scope);
        let desired = desired(cluster, &service.object, &pods);
        let names = self.slices_of.get(key).into_iter().flatten();
        let (own, foreign): (Vec<_>, Vec<_>) = names
            .filter_map(|name| cluster.store.get(&kind.storage, namespace, name))
            .filter(|slice| service_of(slice).as_ref() == Some(key))
            .partition(|slice| is_owned(slice, service.uid()));
        let plan = plan(&service.object, &desired, &own, scope);
        let outdated = own.iter().filter(|s| plan.delete.contains(&s.name));
        for slice in foreign.iter().chain(outdated) {
            write::delete(cluster, &kind, slice, DeleteOptions::default());
        }
        let (mut written, mut is_complete) = (0, true);
        for (name, next) in plan.update {
            let Some(current) = own.iter().find(|slice| slice.name == name) else {
                continue;
            };
            written += items(&next, &["endpoints"]).count();
            match write::update(cluster, &kind, current, next) {
                Ok(Some(new)) => _ = self.written.insert(new.revision),
                Ok(None) => is_complete = false,
                Err(error) => {
                    is_complete = false;
                    let error = error.message();
                    tracing::warn!(slice = name, error, "cannot update an EndpointSlice");
                }
            }
        }
        for slice in &plan.create {
            written += items(slice, &["endpoints"]).count();
            match write::create(cluster, &kind, slice) {
                // Indexed before its event arrives, so that it is not created twice.
                Ok(new) => {
                    self.written.insert(new.revision);
                    self.slices_of.insert(key.clone(), new.name.clone());
                }
                Err(why) => {
                    is_complete = false;
                    if !write::lacks_namespace(&why) {
                        let why = why.message();
                        tracing::warn!(service = name, why, "cannot create an EndpointSlice");
                    }
                }
            }
        }
        if is_complete {
            self.changed_pods.insert(key.clone(), BTreeSet::new());
        }
        Some(written.max(pods.len()))
    }

    fn pods_of(
        &self,
        cluster: &Cluster,
        namespace: &str,
        service: &Object,
        scope: Scope<'_>,
    ) -> Vec<Arc<Stored>> {
        let (selector, resource) = (selector(service), Resource::new("", "pods"));
        let uids = match scope {
            Scope::All => self.pod_labels.candidates(namespace, &selector),
            Scope::Pods(uids) => uids.iter().cloned().collect(),
        };
        let mut pods: Vec<Arc<Stored>> = uids
            .iter()
            .filter_map(|uid| {
                let (namespace, name) = self.pod_keys.get(uid)?;
                let pod = cluster.store.get(&resource, namespace, name)?;
                // Another pod may have its name now, whose own event follows.
                (pod.uid() == uid).then_some(pod)
            })
            .filter(|pod| selector.matches(&pod.object))
            .collect();
        pods.sort_by(|a, b| a.name.cmp(&b.name));
        pods.dedup_by(|a, b| a.name == b.name);
        pods
    }
}

/// The endpoints of a service, by address family.
fn desired<'s>(
    cluster: &Cluster,
    service: &'s Object,
    pods: &[Arc<Stored>],
) -> Vec<(&'s str, Vec<EndpointGroup>)> {
    let nodes = Resource::new("", "nodes");
    let mut zones: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for node in pods.iter().filter_map(|pod| node_name(&pod.object)) {
        zones.entry(node).or_insert_with(|| {
            let node = cluster.store.get(&nodes, "", node)?;
            let zone = text(&node.object, &["metadata", "labels", ZONE]);
            zone.filter(|zone| !zone.is_empty()).map(str::to_owned)
        });
    }
    let zone_of = |node: &str| zones.get(node).cloned().flatten();
    families(service)
        .into_iter()
        .map(|family| {
            let pods = pods.iter().map(|pod| &pod.object);
            (family, groups(service, family, pods, zone_of))
        })
        .collect()
}

fn selector(service: &Object) -> LabelSelector {
    let labels = entries(service, &["spec", "selector"])
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    LabelSelector::of(&meta_v1::LabelSelector {
        match_labels: Some(labels.collect()),
        match_expressions: None,
    })
}

/// The service that a slice of this controller belongs to.
fn service_of(slice: &Stored) -> Option<ObjectKey> {
    let label = |key: &str| text(&slice.object, &["metadata", "labels", key]);
    let name = label(SERVICE_NAME)?;
    (label(MANAGED_BY) == Some(MANAGER)).then(|| (slice.namespace.clone(), name.to_owned()))
}

fn is_owned(slice: &Stored, uid: &str) -> bool {
    let mut owners = items(&slice.object, &["metadata", "ownerReferences"]);
    owners.any(|owner| string(owner, "uid") == uid)
}

#[cfg(test)]
mod tests;
