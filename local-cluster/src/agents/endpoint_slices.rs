//! Keeps the EndpointSlices of services with a selector.
//!
//! A pod's change costs what the services cost that select it, before or after; a service's change
//! costs what the pods cost that bear its rarest label.

mod desired;
mod plan;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta_v1;
use serde_json::Value;
use tokio::time::Instant;

use self::desired::{facet, families, groups, is_served};
use self::plan::plan;
use super::labels::{Labelled, Selections};
use super::pace::Pace;
use super::run::Agent;
use super::write;
use crate::object::{Object, at, text};
use crate::selector::LabelSelector;
use crate::store::{Change, ChangeKind, Resource, Stored};
use crate::writer::Cluster;

/// Names the service of a slice.
const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// Names who writes a slice.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// The name that this controller writes there.
const MANAGER: &str = "endpointslice-controller.k8s.io";

/// Namespace and name.
type Place = (String, String);

/// The agent.
#[derive(Debug)]
pub(super) struct EndpointSlices {
    services: Resource,
    pods: Resource,
    slices: Resource,
    /// Selected services by uid.
    selected: HashMap<String, Place>,
    selections: Selections,
    pod_places: HashMap<String, Place>,
    pod_labels: Labelled,
    /// The slices of a service, by its place.
    slices_of: HashMap<Place, BTreeSet<String>>,
    /// Revisions that this agent wrote: they are no news to it.
    written: BTreeSet<u64>,
    dirty: BTreeSet<Place>,
    pace: Pace<Place>,
}

impl Default for EndpointSlices {
    fn default() -> Self {
        Self {
            services: Resource::new("", "services"),
            pods: Resource::new("", "pods"),
            slices: Resource::new("discovery.k8s.io", "endpointslices"),
            selected: HashMap::new(),
            selections: Selections::default(),
            pod_places: HashMap::new(),
            pod_labels: Labelled::default(),
            slices_of: HashMap::new(),
            written: BTreeSet::new(),
            dirty: BTreeSet::new(),
            pace: Pace::default(),
        }
    }
}

impl Agent for EndpointSlices {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        *self = Self::default();
        for (resource, stored) in &objects {
            self.see(resource, stored, None, false);
        }
    }

    fn observe(&mut self, change: &Change) {
        let gone = change.kind == ChangeKind::Deleted;
        let previous = change.previous.as_deref();
        self.see(&change.resource, &change.object, previous, gone);
    }

    fn act(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        let (ready, next) = self.pace.take(&mut self.dirty, now);
        for place in ready {
            let pods = self.settle(cluster, &place);
            self.pace.rest(&place, pods.unwrap_or(0), Instant::now());
        }
        next
    }
}

impl EndpointSlices {
    fn see(&mut self, resource: &Resource, stored: &Stored, before: Option<&Stored>, gone: bool) {
        if *resource == self.pods {
            self.see_pod(stored, before, gone);
        } else if *resource == self.services {
            self.see_service(stored, gone);
        } else if *resource == self.slices {
            self.see_slice(stored, before, gone);
        }
    }

    fn see_service(&mut self, service: &Stored, gone: bool) {
        let place = (service.namespace.clone(), service.name.clone());
        if gone || !is_served(&service.object) {
            self.selected.remove(service.uid());
            self.selections.remove(service.uid());
            return;
        }
        let selector = selector(&service.object);
        self.selections
            .insert(service.uid(), &service.namespace, selector);
        self.selected
            .insert(service.uid().to_owned(), place.clone());
        self.dirty.insert(place);
    }

    fn see_pod(&mut self, pod: &Stored, before: Option<&Stored>, gone: bool) {
        if gone {
            self.pod_labels.remove(pod.uid());
            self.pod_places.remove(pod.uid());
        } else {
            let place = (pod.namespace.clone(), pod.name.clone());
            self.pod_places.insert(pod.uid().to_owned(), place);
            self.pod_labels
                .insert(pod.uid(), &pod.namespace, &pod.object);
            if before.is_some_and(|before| facet(&before.object) == facet(&pod.object)) {
                return;
            }
        }
        for object in before.into_iter().chain([pod]) {
            let services = self.selections.matching(&pod.namespace, &object.object);
            let places = services.iter().filter_map(|uid| self.selected.get(uid));
            self.dirty.extend(places.cloned());
        }
    }

    fn see_slice(&mut self, slice: &Stored, before: Option<&Stored>, gone: bool) {
        let own = self.written.remove(&slice.revision);
        for (version, here) in before
            .map(|b| (b, false))
            .into_iter()
            .chain([(slice, !gone)])
        {
            let Some(place) = service_of(version) else {
                continue;
            };
            let names = self.slices_of.entry(place.clone()).or_default();
            if here {
                names.insert(slice.name.clone());
            } else {
                names.remove(&slice.name);
            }
            if names.is_empty() {
                self.slices_of.remove(&place);
            }
            if !own {
                self.dirty.insert(place);
            }
        }
    }

    /// Brings the slices of a service up to date; says how many pods it has.
    fn settle(&mut self, cluster: &Cluster, place: &Place) -> Option<usize> {
        let (group, plural) = (&self.slices.group, &self.slices.plural);
        let kind = cluster.registry.builtin(group, plural)?;
        let (namespace, name) = (place.0.as_str(), place.1.as_str());
        let service = cluster.store.get(&self.services, namespace, name);
        let service = service.filter(|service| is_served(&service.object))?;
        let pods = self.pods_of(cluster, namespace, &service.object);
        let nodes = Resource::new("", "nodes");
        let mut zones: BTreeMap<&str, Option<String>> = BTreeMap::new();
        for node in pods
            .iter()
            .filter_map(|p| text(&p.object, &["spec", "nodeName"]))
        {
            zones.entry(node).or_insert_with(|| {
                let node = cluster.store.get(&nodes, "", node)?;
                let zone = text(&node.object, &["metadata", "labels", ZONE]);
                zone.filter(|zone| !zone.is_empty()).map(str::to_owned)
            });
        }
        let wanted: Vec<(&str, Vec<desired::Group>)> = families(&service.object)
            .into_iter()
            .map(|family| {
                let pods = pods.iter().map(|pod| &pod.object);
                let zone_of = |node: &str| zones.get(node).cloned().flatten();
                (family, groups(&service.object, family, pods, zone_of))
            })
            .collect();
        let names = self.slices_of.get(place).cloned().unwrap_or_default();
        let slices: Vec<Arc<Stored>> = names
            .iter()
            .filter_map(|name| cluster.store.get(&self.slices, namespace, name))
            .filter(|slice| service_of(slice).as_ref() == Some(place))
            .collect();
        let (own, foreign): (Vec<_>, Vec<_>) = slices
            .into_iter()
            .partition(|slice| is_owned(slice, service.uid()));
        for slice in foreign {
            write::delete(cluster, &kind, &slice, None);
        }
        let plan = plan(&service.object, &wanted, &own);
        for slice in own.iter().filter(|s| plan.delete.contains(&s.name)) {
            write::delete(cluster, &kind, slice, None);
        }
        for (name, next) in plan.update {
            let Some(current) = own.iter().find(|slice| slice.name == name) else {
                continue;
            };
            match write::update(cluster, &kind, current, next) {
                Ok(Some(written)) => _ = self.written.insert(written.revision),
                Ok(None) => {}
                Err(error) => {
                    let error = error.message();
                    tracing::warn!(slice = name, error, "a slice stays as it is");
                }
            }
        }
        for slice in &plan.create {
            match write::create(cluster, &kind, slice) {
                // Known at once, so that it is not made again before the journal tells of it.
                Ok(new) => {
                    self.written.insert(new.revision);
                    let names = self.slices_of.entry(place.clone()).or_default();
                    names.insert(new.name.clone());
                }
                Err(write::NotCreated::NoNamespace) => {}
                Err(why) => tracing::warn!(service = name, ?why, "no slice was made"),
            }
        }
        Some(pods.len())
    }

    fn pods_of(&self, cluster: &Cluster, namespace: &str, service: &Object) -> Vec<Arc<Stored>> {
        let selector = selector(service);
        let mut pods: Vec<Arc<Stored>> = self
            .pod_labels
            .candidates(namespace, &selector)
            .iter()
            .filter_map(|uid| {
                let (namespace, name) = self.pod_places.get(uid)?;
                cluster.store.get(&self.pods, namespace, name)
            })
            .filter(|pod| selector.matches(&pod.object))
            .collect();
        pods.sort_by(|a, b| a.name.cmp(&b.name));
        pods.dedup_by(|a, b| a.name == b.name);
        pods
    }
}

/// Where a node says in which zone it is.
const ZONE: &str = "topology.kubernetes.io/zone";

fn selector(service: &Object) -> LabelSelector {
    let given = at(service, &["spec", "selector"]).and_then(Value::as_object);
    let labels = given
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    LabelSelector::of(&meta_v1::LabelSelector {
        match_labels: Some(labels.collect()),
        match_expressions: None,
    })
}

/// The service that a slice of this controller belongs to.
fn service_of(slice: &Stored) -> Option<Place> {
    let label = |key: &str| text(&slice.object, &["metadata", "labels", key]);
    let name = label(SERVICE_NAME)?;
    (label(MANAGED_BY) == Some(MANAGER)).then(|| (slice.namespace.clone(), name.to_owned()))
}

fn is_owned(slice: &Stored, uid: &str) -> bool {
    at(&slice.object, &["metadata", "ownerReferences"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .any(|owner| owner.get("uid").and_then(Value::as_str) == Some(uid))
}
