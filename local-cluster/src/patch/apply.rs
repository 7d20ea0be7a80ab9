//! Server-side apply: a manager owns the fields that it applies.

use serde_json::Value;

use super::compare::compare;
use super::field_set::FieldSet;
use super::layout::{Layout, ListKind};
use super::managers::{ManagedFields, ManagedFieldsEntry, Manager};
use super::merge::merge;
use super::ownership::{
    UNOWNED, changes, manager_name, reconcile_with_schema, replicas, reset, shows_none, updated,
};
use crate::object::{Object, at, child, object, set_managers, text, uid};
use crate::resources::{Kind, empty_object};
use crate::status::ApiError;

/// Owns the fields of objects without managers when the first manager applies.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// In which `kubectl apply` on the client side stores what it applied. Server-side apply by kubectl does
/// not conflict with fields that still have these values, and updates the annotation.
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Clone, Debug)]
pub(crate) struct Apply {
    pub(crate) manager: String,
    pub(crate) force: bool,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    /// The applied configuration, in its served version.
    pub(crate) desired: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyResult {
    /// In its served version.
    pub(crate) object: Object,
    pub(crate) managed: Vec<Value>,
}

/// Fields that another manager owns with other values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conflict {
    /// As [`ManagedFieldsEntry::shown`] formats it.
    manager: String,
    set: FieldSet,
}

impl Apply {
    /// Applies to a live object in its served version; an object without a uid is created.
    pub(crate) fn to(
        &self,
        kind: &Kind,
        live: &Object,
        now: &str,
    ) -> Result<ApplyResult, ApiError> {
        let layout = Layout::of(kind);
        let desired = Value::Object(self.own_part(kind));
        if let Some(twice) = duplicate_key(&desired, layout, "") {
            return Err(ApiError::untyped_patch(kind, &self.desired, &twice));
        }
        let mut live = live.clone();
        let all = ManagedFields::read(&live).unwrap_or_default();
        let replicas = (self.subresource == "scale").then(|| replicas(kind));
        let of_scale = replicas.as_ref().map(|replicas| all.of_scale(replicas));
        let mut managers = of_scale.unwrap_or_else(|| all.clone());
        let is_new = uid(&live).is_empty();
        if is_new {
            live = empty_object(kind);
        } else if managers.0.is_empty() && !(replicas.is_some() && shows_none(&live)) {
            let by = Manager {
                name: BEFORE_FIRST_APPLY.to_owned(),
                ..self.as_manager(kind, false)
            };
            managers = updated(kind, managers, (None, &live), by, now);
        }
        set_managers(&mut live, Vec::new());
        self.remove_zero_replicas(&mut live);
        reconcile_with_schema(kind, &mut managers);
        let (next, mut managers) = match self.merged(kind, &live, &desired, &managers, self.force) {
            Ok(merged) => merged,
            Err(conflicts) => {
                let left = match self.manager.as_str() {
                    "kubectl" => without_own_fields(kind, &live, conflicts),
                    _ => conflicts,
                };
                if !left.is_empty() {
                    return Err(conflict_error(left));
                }
                self.merged(kind, &live, &desired, &managers, true)
                    .map_err(conflict_error)?
            }
        };
        let own = self.as_manager(kind, true);
        if let Some(mut entry) = managers.take(&own) {
            entry.set = entry.set.difference(&UNOWNED);
            if next != live {
                entry.time = Some(now.to_owned());
            }
            if !entry.set.is_empty() {
                managers.0.push(entry);
            }
        }
        if let Some(replicas) = &replicas {
            managers = all.with_scale(&managers, replicas);
        }
        // A new object is the configuration, without the empty fields of its type.
        let mut next = if is_new { object(desired) } else { next };
        if self.manager == "kubectl" && self.subresource.is_empty() {
            update_annotation(&mut next, &self.desired);
        }
        Ok(ApplyResult {
            object: next,
            managed: managers.write(),
        })
    }

    /// A scale has no field for zero replicas, so applied replicas are new to it and conflict with those of other
    /// managers.
    fn remove_zero_replicas(&self, live: &mut Object) {
        let applies_replicas = at(&self.desired, &["spec", "replicas"]).is_some();
        if self.subresource == "scale" && applies_replicas && shows_none(live) {
            child(live, "spec").remove("replicas");
        }
    }

    fn as_manager(&self, kind: &Kind, applies: bool) -> Manager {
        Manager {
            name: manager_name(&self.manager),
            applies,
            api_version: kind.api_version(),
            subresource: self.subresource.clone(),
        }
    }

    /// The part of the configuration that the subresource can change.
    fn own_part(&self, kind: &Kind) -> Object {
        let mut desired = self.desired.clone();
        // A cluster merges all of a built-in kind, and resets fields later.
        if !kind.is_custom() {
            return desired;
        }
        if self.subresource == "status" {
            desired.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "status"));
        } else if kind.has_status {
            desired.remove("status");
        }
        desired
    }

    /// Merges the configuration, and removes fields that the manager applied before and applies no
    /// longer.
    fn merged(
        &self,
        kind: &Kind,
        live: &Object,
        desired: &Value,
        managers: &ManagedFields,
        force: bool,
    ) -> Result<(Object, ManagedFields), Vec<Conflict>> {
        let layout = Layout::of(kind);
        let own = self.as_manager(kind, true);
        let mut managers = managers.clone();
        let before = managers.take(&own);
        let mut next = Value::Object(live.clone());
        merge(&mut next, desired, layout);
        let set = FieldSet::of(desired, layout).without(&reset(kind, &self.subresource));
        if let Some(before) = &before {
            prune(&mut next, &before.set, &set, &managers, layout);
        }
        let next = object(next);
        let changes = changes(kind, &self.subresource, live, &next);
        let removed = changes.removed.clone();
        let changed = changes.set();
        let mut conflicts: Vec<Conflict> = Vec::new();
        let mut entries: Vec<&ManagedFieldsEntry> = managers.0.iter().collect();
        entries.sort_by_key(|entry| entry.manager.order());
        for entry in entries {
            let set = entry.set.intersection(&changed);
            if !set.is_empty() {
                let mut entry = entry.clone();
                let mut set = set;
                if self.subresource == "scale" {
                    "autoscaling/v1".clone_into(&mut entry.manager.api_version);
                    set = FieldSet::of_paths(&[&["spec", "replicas"]]);
                }
                let manager = entry.shown();
                conflicts.push(Conflict { manager, set });
            }
        }
        if !conflicts.is_empty() && !force {
            return Err(conflicts);
        }
        managers.remove(&changed);
        managers.remove(&removed);
        managers.0.push(ManagedFieldsEntry {
            manager: own,
            encoded: None,
            time: before.and_then(|entry| entry.time),
            set,
        });
        Ok((next, managers))
    }
}

/// Removes fields that the manager no longer applies, unless another manager owns them.
fn prune(
    merged: &mut Value,
    before: &FieldSet,
    desired: &FieldSet,
    others: &ManagedFields,
    layout: Layout<'_>,
) {
    if before.is_empty() {
        return;
    }
    let fields = |value: &Value| FieldSet::of(value, layout).with_named_fields(layout);
    let before = before.with_named_fields(layout);
    let all = fields(merged);
    let owned = others
        .0
        .iter()
        .fold(desired.clone(), |all, entry| all.union(&entry.set))
        .with_named_fields(layout);
    let without = |set: &FieldSet| {
        let mut left = merged.clone();
        set.remove_from(&mut left, layout);
        left
    };
    // Owned fields stay, and so do fields that remain without those of this manager; of the rest,
    // only fields of this manager are removed.
    let left = fields(&without(&before)).union(&owned);
    let left = fields(&without(&all.difference(&left)));
    let removed = all.difference(&left).intersection(&before);
    *merged = without(&removed);
}

fn conflict_error(conflicts: Vec<Conflict>) -> ApiError {
    let mut listed: Vec<(String, String)> = Vec::new();
    for conflict in conflicts {
        let paths = conflict.set.paths().into_iter();
        listed.extend(paths.map(|path| (conflict.manager.clone(), path)));
    }
    ApiError::apply_conflicts(&listed)
}

/// The path of items with the same key, which an apply cannot distinguish.
fn duplicate_key(value: &Value, layout: Layout<'_>, path: &str) -> Option<String> {
    match value {
        Value::Object(map) if !layout.is_atomic_map() => map.iter().find_map(|(name, value)| {
            duplicate_key(value, layout.of_field(name), &format!("{path}.{name}"))
        }),
        Value::Array(items) if layout.list_kind() != ListKind::Atomic => {
            let kind = layout.list_kind();
            let mut seen = FieldSet::default();
            for item in items {
                let Some(branch) = layout.item_name(&kind, item) else {
                    continue;
                };
                let mut one = FieldSet::default();
                one.put(branch.clone(), FieldSet::leaf());
                let shown = one.paths().concat();
                if seen.children.contains_key(&branch) {
                    return Some(format!("{path}: duplicate entries for key {shown}"));
                }
                seen.put(branch, FieldSet::leaf());
                if !layout.has_atomic_items() {
                    let inside = duplicate_key(item, layout.of_item(), &format!("{path}{shown}"));
                    if inside.is_some() {
                        return inside;
                    }
                }
            }
            None
        }
        _ => None,
    }
}

/// Drops conflicts about fields that kubectl applied on the client side.
fn without_own_fields(kind: &Kind, live: &Object, conflicts: Vec<Conflict>) -> Vec<Conflict> {
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
fn update_annotation(object: &mut Object, desired: &Object) {
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

#[cfg(test)]
mod tests;
