//! Migration between `kubectl apply` and `kubectl apply --server-side`.
//!
//! The former stores what it applied in an annotation. Server-side apply by kubectl does not
//! conflict with fields that still have these values, and updates the annotation.

use serde_json::Value;

use super::Conflict;
use crate::object::{Object, text};
use crate::patch::compare::compare;
use crate::patch::field_set::FieldSet;
use crate::patch::layout::Layout;
use crate::resources::Kind;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Drops conflicts about fields that kubectl applied on the client side.
pub(super) fn without_own_fields(
    kind: &Kind,
    live: &Object,
    conflicts: Vec<Conflict>,
) -> Vec<Conflict> {
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

/// The fields of the annotation whose values have not changed.
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

/// Updates the annotation, if there is one.
pub(super) fn update_annotation(object: &mut Object, desired: &Object) {
    let annotation = object
        .get_mut("metadata")
        .and_then(|m| m.get_mut("annotations"))
        .and_then(|a| a.get_mut(ANNOTATION));
    let Some(annotation) = annotation.filter(|a| a.as_str() != Some("")) else {
        return;
    };
    let mut desired = Value::Object(desired.clone());
    let own = desired.get_mut("metadata");
    if let Some(Value::Object(own)) = own.and_then(|m| m.get_mut("annotations")) {
        own.remove(ANNOTATION);
    }
    *annotation = Value::from(format!("{desired}\n"));
}
