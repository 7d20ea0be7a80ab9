//! Pods, reduced to what reconciling needs (u40): a whole pod is read only when a driver gets it.

use super::StoreEvent;
use super::readiness::{GateStatus, PodCondition, PodReadiness};
use super::store::{Diff, Store, Versioned, version_of};
use crate::api::{ObjectKey, key_of};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ObjectMeta;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PodView {
    pub key: ObjectKey,
    pub uid: String,
    pub version: u64,
    pub labels: BTreeMap<String, String>,
    /// Empty while it has none.
    pub ip: String,
    /// Empty while it is not scheduled.
    pub node: String,
    /// The Ready condition is True, or would be but for [`names::READINESS_GATE`](crate::api::names::READINESS_GATE).
    pub ready: bool,
    /// The status of that gate; none if the pod does not have it.
    pub gate: Option<GateStatus>,
    /// The phase is Running.
    pub running: bool,
    /// The phase is Succeeded or Failed: its containers have ended and do not start again.
    pub finished: bool,
    pub deleting: bool,
}

impl PodView {
    pub(crate) fn of(pod: &Pod) -> Self {
        let status = pod.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_ref());
        let conditions = conditions.into_iter().flatten().map(|it| PodCondition {
            type_: &it.type_,
            status: &it.status,
            reason: it.reason.as_deref().unwrap_or_default(),
        });
        let conditions: Vec<PodCondition<'_>> = conditions.collect();
        let gates = pod.spec.as_ref();
        let gates = gates.and_then(|spec| spec.readiness_gates.as_ref());
        let gates = gates.into_iter().flatten();
        Self::new(
            &pod.metadata,
            pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
            status.and_then(|status| status.pod_ip.clone()),
            status.and_then(|status| status.phase.as_deref()),
            PodReadiness::of(gates.map(|gate| gate.condition_type.as_str()), &conditions),
        )
    }

    pub(crate) fn new(
        metadata: &ObjectMeta,
        node: Option<String>,
        ip: Option<String>,
        phase: Option<&str>,
        PodReadiness { ready, gate }: PodReadiness,
    ) -> Self {
        Self {
            key: key_of(metadata),
            uid: metadata.uid.clone().unwrap_or_default(),
            version: version_of(metadata),
            labels: metadata.labels.clone().unwrap_or_default(),
            ip: ip.unwrap_or_default(),
            node: node.unwrap_or_default(),
            ready,
            gate,
            running: phase == Some("Running"),
            finished: matches!(phase, Some("Succeeded" | "Failed")),
            deleting: metadata.deletion_timestamp.is_some(),
        }
    }

    /// Returns true if the pod can be registered.
    pub(crate) fn is_available(&self) -> bool {
        !self.ip.is_empty() && self.ready && !self.deleting
    }

    /// Returns true if the pod has an address and its phase is Running, ready or not.
    pub(crate) const fn is_running(&self) -> bool {
        !self.ip.is_empty() && self.running
    }

    /// Returns true if the pod has this controller's readiness gate and waits for it, or cannot be
    /// registered now.
    pub(super) fn is_waiting_for_gate(&self) -> bool {
        self.gate
            .is_some_and(|gate| gate != GateStatus::True || !self.ready)
    }

    /// Compares only the fields that the owners of a pod's records depend on. Updates of other fields
    /// do not enqueue the owners.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.uid == other.uid
            && self.labels == other.labels
            && self.ip == other.ip
            && self.node == other.node
            && self.ready == other.ready
            && self.running == other.running
            && self.finished == other.finished
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
}

#[derive(Debug, Default)]
pub(super) struct Pods {
    pub(super) store: Store<PodView>,
    names: BTreeSet<ObjectKey>,
}

impl Pods {
    /// Applies an event; returns the pods of which reconciling can see a difference.
    pub(super) fn apply(&mut self, event: StoreEvent<PodView>) -> Vec<(ObjectKey, Diff<PodView>)> {
        let mut diffs = self.store.apply(event);
        for (key, diff) in &diffs {
            if diff.new.is_none() {
                self.names.remove(key);
            } else if diff.old.is_none() {
                self.names.insert(key.clone());
            }
        }
        let differs =
            |old: &PodView, new: &PodView| !old.is_equivalent(new) || old.gate != new.gate;
        diffs.retain(|(_, diff)| diff.is_change(differs));
        diffs
    }

    pub(super) fn in_namespace<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Arc<PodView>> {
        self.names
            .range(ObjectKey::new(namespace, "")..)
            .take_while(move |key| *key.namespace == *namespace)
            .filter_map(|key| self.store.find(key))
    }
}
