//! Runs the controllers of workloads: what a Deployment, a StatefulSet or a Job stands for.
//!
//! Each looks at one object at a time, when it, or what it controls or could adopt, has changed. So
//! a pod's change costs what its owners cost, and where nothing changes nothing runs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::desk::{Desk, Owner};
use super::kin::Kin;
use super::labels::Selections;
use super::pace::Pace;
use super::placement::is_node_ready;
use super::run::Agent;
use super::timers::Timers;
use super::{daemon_sets, deployments, jobs, replica_sets, stateful_sets};
use crate::object::{Object, at};
use crate::selector::LabelSelector;
use crate::store::{Change, ChangeKind, Resource, Stored};
use crate::writer::Cluster;

/// Looks at one object; says in what time to look again, if nothing changes.
type Sync = fn(&mut Desk<'_>, Owner<'_>, &LabelSelector) -> Option<Duration>;

/// A kind of workload.
struct Controller {
    group: &'static str,
    plural: &'static str,
    /// Group and plural of what it adopts.
    adopts: (&'static str, &'static str),
    sync: Sync,
}

const PODS: (&str, &str) = ("", "pods");

const CONTROLLERS: &[Controller] = &[
    Controller {
        group: "apps",
        plural: "deployments",
        adopts: ("apps", "replicasets"),
        sync: deployments::sync,
    },
    Controller {
        group: "apps",
        plural: "replicasets",
        adopts: PODS,
        sync: replica_sets::sync,
    },
    Controller {
        group: "",
        plural: "replicationcontrollers",
        adopts: PODS,
        sync: replica_sets::sync,
    },
    Controller {
        group: "apps",
        plural: "statefulsets",
        adopts: PODS,
        sync: stateful_sets::sync,
    },
    Controller {
        group: "apps",
        plural: "daemonsets",
        adopts: PODS,
        sync: daemon_sets::sync,
    },
    Controller {
        group: "batch",
        plural: "jobs",
        adopts: PODS,
        sync: jobs::sync,
    },
];

/// What workloads control.
const CONTROLLED: &[(&str, &str)] = &[
    PODS,
    ("apps", "replicasets"),
    ("apps", "controllerrevisions"),
];

/// Where a workload is, and which controller looks at it.
struct Workload {
    controller: &'static Controller,
    resource: Resource,
    namespace: String,
    name: String,
}

/// The agent. Workloads are named by uid.
#[derive(Default)]
pub(super) struct Workloads {
    workloads: HashMap<String, Workload>,
    selections: Selections,
    kin: Kin,
    dirty: BTreeSet<String>,
    timers: Timers,
    pace: Pace<String>,
}

impl Agent for Workloads {
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
        while let Some(uid) = self.timers.due(now) {
            self.dirty.insert(uid);
        }
        let (ready, next) = self.pace.take(&mut self.dirty, now);
        for uid in ready {
            let again = self.settle(cluster, &uid);
            self.timers.set(&uid, again.map(|after| now + after));
            self.pace.rest(&uid, self.kin.count(&uid), Instant::now());
        }
        [self.timers.next(), next].into_iter().flatten().min()
    }
}

impl Workloads {
    fn see(&mut self, resource: &Resource, stored: &Stored, before: Option<&Stored>, gone: bool) {
        let is = |(group, plural): (&str, &str)| {
            *resource.group == *group && *resource.plural == *plural
        };
        if let Some(controller) = CONTROLLERS.iter().find(|c| is((c.group, c.plural))) {
            self.see_workload(controller, resource, stored, gone);
        }
        if CONTROLLED.iter().any(|known| is(*known)) {
            self.see_controlled(resource, stored, gone);
        }
        if is(("", "nodes")) && (gone || matters_to_daemons(stored, before)) {
            let daemons = self
                .workloads
                .iter()
                .filter(|(_, workload)| workload.controller.plural == "daemonsets");
            self.dirty.extend(daemons.map(|(uid, _)| uid.clone()));
        }
    }

    fn see_workload(
        &mut self,
        controller: &'static Controller,
        resource: &Resource,
        stored: &Stored,
        gone: bool,
    ) {
        let uid = stored.uid();
        let selector = selector(&stored.object).filter(|_| !gone);
        let Some(selector) = selector else {
            self.workloads.remove(uid);
            self.selections.remove(uid);
            self.dirty.remove(uid);
            self.timers.set(uid, None);
            return;
        };
        self.selections.insert(uid, &stored.namespace, selector);
        let workload = Workload {
            controller,
            resource: resource.clone(),
            namespace: stored.namespace.clone(),
            name: stored.name.clone(),
        };
        self.workloads.insert(uid.to_owned(), workload);
        self.dirty.insert(uid.to_owned());
    }

    fn see_controlled(&mut self, resource: &Resource, stored: &Stored, gone: bool) {
        let mut concerned = self.kin.see(resource, stored, gone);
        if gone {
            // A Deployment may wait for the last pod of an old ReplicaSet.
            let above = concerned
                .iter()
                .filter_map(|uid| self.kin.controller_of(uid));
            let above: Vec<String> = above.map(str::to_owned).collect();
            concerned.extend(above);
        } else if super::kin::controller(&stored.object).is_none() {
            let takers = self.selections.matching(&stored.namespace, &stored.object);
            concerned.extend(takers.into_iter().filter(|uid| {
                self.workloads.get(uid).is_some_and(|workload| {
                    let (group, plural) = workload.controller.adopts;
                    *resource.group == *group && *resource.plural == *plural
                })
            }));
        }
        concerned.retain(|uid| self.workloads.contains_key(uid));
        self.dirty.extend(concerned);
    }

    fn settle(&mut self, cluster: &Cluster, uid: &str) -> Option<Duration> {
        let workload = self.workloads.get(uid)?;
        let kind = cluster.registry.of_storage(&workload.resource)?;
        let (namespace, name) = (&workload.namespace, &workload.name);
        let stored = cluster.store.get(&workload.resource, namespace, name)?;
        if stored.uid() != uid {
            return None;
        }
        let selector = selector(&stored.object)?;
        let mut desk = Desk {
            cluster,
            kin: &mut self.kin,
            now: Timestamp::now(),
        };
        let owner = Owner {
            kind: &kind,
            stored: &stored,
        };
        (workload.controller.sync)(&mut desk, owner, &selector)
    }
}

/// The selector of a workload, unless it selects nothing or everything.
fn selector(workload: &Object) -> Option<LabelSelector> {
    let given = at(workload, &["spec", "selector"])?;
    let structured = given.get("matchLabels").or(given.get("matchExpressions"));
    let selector = if structured.is_some_and(|s| s.is_object() || s.is_array()) {
        serde_json::from_value(given.clone()).ok()?
    } else {
        // A ReplicationController just names labels.
        k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector {
            match_labels: serde_json::from_value(given.clone()).ok(),
            match_expressions: None,
        }
    };
    Some(LabelSelector::of(&selector)).filter(|selector| !selector.is_empty())
}

/// Whether a node changed in what decides which daemons run on it.
fn matters_to_daemons(node: &Stored, before: Option<&Stored>) -> bool {
    let facet = |node: &Stored| {
        let part = |path: &[&str]| at(&node.object, path).cloned();
        let (labels, taints) = (part(&["metadata", "labels"]), part(&["spec", "taints"]));
        (labels, taints, is_node_ready(&node.object))
    };
    before.is_none_or(|before| facet(before) != facet(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::{Value, json};

    #[test]
    fn selectors_are_read_in_both_forms() {
        let read = |given: Value| selector(&object(json!({"spec": {"selector": given}})));
        let web = LabelSelector::parse("app in (web)").unwrap();
        assert_eq!(
            read(json!({"matchLabels": {"app": "web"}})),
            Some(web.clone())
        );
        assert_eq!(read(json!({"app": "web"})), Some(web));
        for none in [json!({}), json!({"matchLabels": {}}), Value::Null] {
            assert_eq!(read(none), None);
        }
    }
}
