//! A set with its pods, and the next step of its controller.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::controllers::pods::until_available;
use crate::controllers::template::{hash, normalized};
use crate::object::{Object, at, is_deleting, number, text};
use crate::store::Stored;

/// The label of a pod with the revision of its template.
pub(super) const REVISION_HASH: &str = "controller-revision-hash";

/// The size of the largest set, so that a typing error does not exhaust the memory.
pub(super) const MAX_PODS: i64 = 10_000;

/// The number of pods that are created before other workloads are reconciled.
pub(super) const BURST: usize = 500;

#[derive(Debug)]
pub(super) struct Set<'a> {
    pub(super) object: &'a Object,
    pub(super) pods: Vec<Arc<Stored>>,
    pub(super) now: Timestamp,
}

#[derive(Debug, Default)]
pub(super) struct SetPlan {
    pub(super) create: Vec<Object>,
    pub(super) delete: Vec<Arc<Stored>>,
    pub(super) status: Object,
    /// The time until one more pod has been ready for `spec.minReadySeconds`.
    pub(super) next_available: Option<Duration>,
}

impl Set<'_> {
    pub(super) fn replicas(&self) -> i64 {
        number(self.object, &["spec", "replicas"], 1).clamp(0, MAX_PODS)
    }

    /// The hash of the set's template.
    pub(super) fn revision(&self) -> String {
        let template = at(self.object, &["spec", "template"]).unwrap_or(&Value::Null);
        hash(&normalized(template, REVISION_HASH))
    }

    /// Pods of old revisions stay until a client deletes them.
    pub(super) fn updates_on_delete(&self) -> bool {
        text(self.object, &["spec", "updateStrategy", "type"]) == Some("OnDelete")
    }

    pub(super) fn min_ready_seconds(&self) -> i64 {
        number(self.object, &["spec", "minReadySeconds"], 0)
    }

    pub(super) fn is_available(&self, pod: &Object) -> bool {
        let left = until_available(pod, self.min_ready_seconds(), self.now);
        left == Some(Duration::ZERO) && !is_deleting(pod)
    }
}

pub(super) fn revision_of(pod: &Object) -> &str {
    text(pod, &["metadata", "labels", REVISION_HASH]).unwrap_or_default()
}
