//! What `kubectl apply` and `kubectl apply --server-side` do to the same object.
//!
//! The former keeps what it applied in an annotation. When the latter takes over, what it finds there
//! unchanged is its own already, and the annotation is kept true for the way back.

use serde_json::Value;

use super::Conflict;
use crate::object::{Object, text};
use crate::patch::compare::compare;
use crate::patch::field_set::FieldSet;
use crate::patch::layout::Layout;
use crate::resources::Kind;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The conflicts that are none of kubectl with itself: all of them if there is but one other.
pub(super) fn not_allowed(kind: &Kind, live: &Object, conflicts: Vec<Conflict>) -> Vec<Conflict> {
    let Some(allowed) = unchanged(kind, live) else {
        return conflicts;
    };
    let mut left = Vec::new();
    for conflict in conflicts {
        let set = conflict.set.difference(&allowed);
        if !set.is_empty() {
            left.push(Conflict { set, ..conflict });
        }
    }
    left
}

/// The fields that were applied last and are still as they were applied.
fn unchanged(kind: &Kind, live: &Object) -> Option<FieldSet> {
    let annotation = text(live, &["metadata", "annotations", ANNOTATION])?;
    let applied: Value = serde_json::from_str(annotation).ok()?;
    let version = applied.get("apiVersion").and_then(Value::as_str)?;
    if version != kind.api_version() {
        return None;
    }
    let layout = Layout::of(kind);
    let changes = compare(Some(&applied), Some(&Value::Object(live.clone())), layout);
    let set = FieldSet::of(&applied, layout);
    Some(
        set.difference(&changes.modified)
            .difference(&changes.added)
            .difference(&changes.removed),
    )
}

/// Writes what is wanted into the annotation, if there is one.
pub(super) fn keep_true(object: &mut Object, wanted: &Object) {
    let annotation = object
        .get_mut("metadata")
        .and_then(|m| m.get_mut("annotations"))
        .and_then(|a| a.get_mut(ANNOTATION));
    let Some(annotation) = annotation.filter(|a| a.as_str() != Some("")) else {
        return;
    };
    let mut wanted = Value::Object(wanted.clone());
    let own = wanted.get_mut("metadata");
    if let Some(Value::Object(own)) = own.and_then(|m| m.get_mut("annotations")) {
        own.remove(ANNOTATION);
    }
    *annotation = Value::from(format!("{wanted}\n"));
}
