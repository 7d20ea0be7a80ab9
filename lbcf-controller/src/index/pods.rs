//! Pods, cut down to what deciding needs (u40): a whole pod is fetched only when a driver is to
//! see it.

use super::Change;
use super::table::{Diff, Table, Versioned};
use crate::key::ObjectKey;
use k8s_openapi::api::core::v1::Pod;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What deciding needs to know of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PodView {
    /// Namespace and name.
    pub key: ObjectKey,
    /// The uid, which tells a pod from its namesake after it.
    pub uid: String,
    /// The resourceVersion.
    pub version: u64,
    /// The labels, by which groups select it.
    pub labels: BTreeMap<String, String>,
    /// Its address; empty while it has none.
    pub ip: String,
    /// The node that it runs on; empty while it has none.
    pub node: String,
    /// Whether its Ready condition is True.
    pub ready: bool,
    /// Whether its phase is Running.
    pub running: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
}

impl PodView {
    /// The view of a pod.
    #[must_use]
    pub(crate) fn of(pod: &Pod) -> Self {
        let status = pod.status.as_ref();
        let ready = status
            .and_then(|status| status.conditions.as_ref())
            .is_some_and(|conditions| {
                conditions
                    .iter()
                    .any(|condition| condition.type_ == "Ready" && condition.status == "True")
            });
        Self {
            key: ObjectKey::of(pod),
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            version: Versioned::version(pod),
            labels: pod.metadata.labels.clone().unwrap_or_default(),
            ip: status
                .and_then(|status| status.pod_ip.clone())
                .unwrap_or_default(),
            node: pod
                .spec
                .as_ref()
                .and_then(|spec| spec.node_name.clone())
                .unwrap_or_default(),
            ready,
            running: status.and_then(|status| status.phase.as_deref()) == Some("Running"),
            deleting: pod.metadata.deletion_timestamp.is_some(),
        }
    }

    /// Whether it may be registered (b108).
    #[must_use]
    pub(crate) fn is_available(&self) -> bool {
        !self.ip.is_empty() && self.ready && !self.deleting
    }

    /// Whether it has an address and its phase is Running, ready or not.
    #[must_use]
    pub(crate) const fn is_running(&self) -> bool {
        !self.ip.is_empty() && self.running
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.uid == other.uid
            && self.labels == other.labels
            && self.ip == other.ip
            && self.node == other.node
            && self.ready == other.ready
            && self.running == other.running
            && self.deleting == other.deleting
    }
}

impl Versioned for PodView {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn is_gone(&self) -> bool {
        false
    }
}

#[derive(Debug, Default)]
pub(super) struct Pods {
    table: Table<PodView>,
    names: BTreeSet<ObjectKey>,
}

impl Pods {
    /// Takes a change in; gives those that deciding could tell apart.
    pub(super) fn change(&mut self, change: Change<PodView>) -> Vec<(ObjectKey, Diff<PodView>)> {
        let mut diffs = self.table.change(change);
        diffs.retain(|(key, diff)| match (&diff.old, &diff.new) {
            (Some(old), Some(new)) => !old.says_the_same(new),
            (None, Some(_)) => {
                self.names.insert(key.clone());
                true
            }
            (_, None) => {
                self.names.remove(key);
                true
            }
        });
        diffs
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<PodView>> {
        self.table.peek(key).cloned()
    }

    pub(super) fn in_namespace<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<PodView>> {
        self.names
            .range(ObjectKey::new(namespace, "")..)
            .take_while(move |key| key.namespace == namespace)
            .filter_map(|key| self.table.peek(key))
    }
}
