//! Runs the workload controllers: Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs.
//!
//! Each reconciles one workload at a time, when the workload or an object that it controls or may adopt
//! has changed. So a pod's event costs what its owners cost, and a cluster at rest costs nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::context::Context;
use super::indexes::SelectorIndex;
use super::owners::{OwnerIndex, controller_uid};
use super::queues::{DelayQueue, Throttle};
use super::run::Controller;
use super::scheduling::is_node_ready;
use super::{deployments, sets};
use crate::object::{Object, at};
use crate::selector::LabelSelector;
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

/// Reconciles one workload. Returns when to reconcile it again if nothing changes.
type Reconcile = fn(&mut Context<'_>) -> Option<Duration>;

/// A plural of the group `apps`, that of the objects which it adopts, and its controller.
type WorkloadKind = (&'static str, &'static str, Reconcile);

const KINDS: [WorkloadKind; 4] = [
    ("deployments", "replicasets", deployments::reconcile),
    ("replicasets", "pods", sets::reconcile),
    ("statefulsets", "pods", sets::reconcile),
    ("daemonsets", "pods", sets::reconcile),
];

struct Workload {
    adopts: &'static str,
    reconcile: Reconcile,
    resource: Resource,
    namespace: String,
    name: String,
}

/// The workload controllers; keys are uids.
#[derive(Default)]
pub(super) struct Workloads {
    workloads: HashMap<String, Workload>,
    selectors: SelectorIndex,
    owners: OwnerIndex,
    dirty: BTreeSet<String>,
    requeued: DelayQueue<String>,
    throttle: Throttle<String>,
}

impl Controller for Workloads {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        *self = Self::default();
        for (resource, stored) in objects {
            self.apply(&StoreEvent::new(EventType::Added, resource, stored, None));
        }
    }

    fn apply(&mut self, event: &StoreEvent) {
        let (resource, stored) = (&event.resource, &*event.object);
        let deleted = event.kind == EventType::Deleted;
        let mut kinds = KINDS.iter();
        if let Some(kind) = kinds.find(|(plural, ..)| resource.is("apps", plural)) {
            self.apply_workload(kind, resource, stored, deleted);
        }
        if resource.is("", "pods") || resource.is("apps", "replicasets") {
            self.apply_controlled(resource, stored, deleted);
        }
        let before = event.previous.as_deref();
        if resource.is("", "nodes") && (deleted || concerns_daemon_sets(stored, before)) {
            let all = self.workloads.iter();
            let daemon_sets = all.filter(|(_, it)| it.resource.is("apps", "daemonsets"));
            self.dirty.extend(daemon_sets.map(|(uid, _)| uid.clone()));
        }
    }

    async fn reconcile(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        while let Some(uid) = self.requeued.pop(now) {
            self.dirty.insert(uid);
        }
        let (ready, next) = self.throttle.take_ready(&mut self.dirty, now);
        for uid in ready {
            let again = self.reconcile_one(cluster, &uid);
            self.requeued
                .set(uid.clone(), again.map(|after| now + after));
            let objects = self.owners.count(&uid);
            self.throttle.add(uid, objects, Instant::now());
        }
        [self.requeued.next(), next].into_iter().flatten().min()
    }
}

impl Workloads {
    fn apply_workload(
        &mut self,
        (_, adopts, reconcile): &WorkloadKind,
        resource: &Resource,
        stored: &Stored,
        deleted: bool,
    ) {
        let uid = stored.uid();
        let Some(selector) = selector(&stored.object).filter(|_| !deleted) else {
            self.workloads.remove(uid);
            self.selectors.remove(uid);
            self.dirty.remove(uid);
            self.requeued.set(uid.to_owned(), None);
            return;
        };
        self.selectors.insert(uid, &stored.namespace, selector);
        let workload = Workload {
            adopts,
            reconcile: *reconcile,
            resource: resource.clone(),
            namespace: stored.namespace.clone(),
            name: stored.name.clone(),
        };
        self.workloads.insert(uid.to_owned(), workload);
        self.dirty.insert(uid.to_owned());
    }

    fn apply_controlled(&mut self, resource: &Resource, stored: &Stored, deleted: bool) {
        let mut affected = self.owners.apply(resource, stored, deleted);
        if deleted {
            // A Deployment may wait for the last pod of an old ReplicaSet.
            let above = affected
                .iter()
                .filter_map(|uid| self.owners.controller_of(uid));
            let above: Vec<String> = above.map(str::to_owned).collect();
            affected.extend(above);
        } else if controller_uid(&stored.object).is_none() {
            let matching = self.selectors.matching(&stored.namespace, &stored.object);
            affected.extend(matching.into_iter().filter(|uid| {
                let workload = self.workloads.get(uid);
                workload.is_some_and(|workload| *resource.plural == *workload.adopts)
            }));
        }
        affected.retain(|uid| self.workloads.contains_key(uid));
        self.dirty.extend(affected);
    }

    fn reconcile_one(&mut self, cluster: &Cluster, uid: &str) -> Option<Duration> {
        let workload = self.workloads.get(uid)?;
        let kind = cluster.registry.of_storage(&workload.resource)?;
        let (namespace, name) = (&workload.namespace, &workload.name);
        let owner = cluster.store.get(&workload.resource, namespace, name)?;
        if owner.uid() != uid {
            return None;
        }
        (workload.reconcile)(&mut Context {
            cluster,
            owners: &mut self.owners,
            now: Timestamp::now(),
            kind: &kind,
            owner: &owner,
            selector: &selector(&owner.object)?,
        })
    }
}

/// The selector of a workload, unless it selects nothing or everything.
fn selector(workload: &Object) -> Option<LabelSelector> {
    let given = at(workload, &["spec", "selector"])?;
    let selector = serde_json::from_value(given.clone()).ok()?;
    Some(LabelSelector::of(&selector)).filter(|selector| !selector.is_empty())
}

/// A node's change may decide about the daemon pods on it.
fn concerns_daemon_sets(node: &Stored, before: Option<&Stored>) -> bool {
    let relevant = |node: &Stored| {
        let part = |path: &[&str]| at(&node.object, path).cloned();
        let (labels, taints) = (part(&["metadata", "labels"]), part(&["spec", "taints"]));
        (labels, taints, is_node_ready(&node.object))
    };
    before.is_none_or(|before| relevant(before) != relevant(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::{Value, json};

    #[test]
    fn selectors_of_nothing_or_everything_are_ignored() {
        let read = |given: Value| selector(&object(json!({"spec": {"selector": given}})));
        let web = LabelSelector::parse("app in (web)").unwrap();
        assert_eq!(read(json!({"matchLabels": {"app": "web"}})), Some(web));
        for none in [
            json!({"app": "web"}),
            json!({}),
            json!({"matchLabels": {}}),
            Value::Null,
        ] {
            assert_eq!(read(none), None);
        }
    }
}
