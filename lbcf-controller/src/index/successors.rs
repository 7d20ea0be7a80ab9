//! Records that are being deleted while another one is to register the same backend, which then need not be
//! deregistered.

use super::Index;
use super::address::Address;
use super::records::{counts_as_registered, namespace_of};
use super::store::Diff;
use crate::api::{BackendRecord, ObjectExt, ObjectKey, PodBackendRecord, names};
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::HashSet;

/// The deletions that this process has seen since it leads, and whose deregistrations have not begun. Of others that
/// is not known: an earlier leader may have begun them.
#[derive(Debug, Default)]
pub(super) struct Deletions(HashSet<ObjectKey>);

impl Deletions {
    pub(super) fn update(&mut self, key: &ObjectKey, diff: &Diff<BackendRecord>) {
        match (&diff.old, &diff.new) {
            (Some(old), Some(new)) if !old.is_deleting() && new.is_deleting() => {
                if old.metadata.uid == new.metadata.uid {
                    self.0.insert(key.clone());
                }
            }
            (_, Some(new)) if new.is_deleting() => {}
            _ => drop(self.0.remove(key)),
        }
    }
}

impl Index {
    /// Forgets what was seen while another process may have led.
    pub(crate) fn begin_lead(&mut self) {
        self.records.deletions = Deletions::default();
    }

    pub(crate) fn begin_deregistration(&mut self, record: &BackendRecord) {
        self.records.deletions.0.remove(&ObjectKey::of(record));
    }

    /// True if a record is being deleted and its deregistration may have begun.
    pub(crate) fn is_deregistering(&self, record: &BackendRecord) -> bool {
        record.is_deleting() && !self.records.deletions.0.contains(&ObjectKey::of(record))
    }

    /// The record that is to register the backend of one that is being deleted, and has not done so.
    pub(crate) fn successor(&self, record: &BackendRecord) -> Option<String> {
        if !record.is_deleting() {
            return None;
        }
        let neighbours = self.records.neighbours(record);
        let mut neighbours = neighbours.iter().map(|it| &**it);
        let is_waiting =
            |other: &&BackendRecord| !other.is_deleting() && !counts_as_registered(other);
        let without_address = || {
            let pod = record.spec.pod_backend.as_ref()?;
            let pod = ObjectKey::new(namespace_of(record), pod.name.as_str());
            let mut others = self.records.of_pod(&pod).map(|it| &**it);
            others.find(|other| {
                Address::of(other).is_none()
                    && backend_of(other) == backend_of(record)
                    && is_waiting(other)
            })
        };
        let successor = neighbours.find(is_waiting).or_else(without_address);
        successor.map(ResourceExt::name_any)
    }
}

/// The port of a pod at a load balancer.
fn backend_of(record: &BackendRecord) -> impl PartialEq + use<'_> {
    let spec = &record.spec;
    let port =
        |pod: &PodBackendRecord| -> (i32, Protocol) { (pod.port.number(), pod.port.protocol()) };
    (
        names::namespace_of(namespace_of(record), &spec.lb_driver),
        &spec.lb_driver,
        &spec.lb_info,
        spec.pod_backend.as_ref().map(port),
    )
}
