//! Server-side apply: a manager says which fields it wants, and owns them from then on.

mod last_applied;

use serde_json::Value;

use super::field_set::FieldSet;
use super::layout::{Layout, ListKind};
use super::managers::{Entry, Manager, Managers};
use super::merge::merge;
use super::ownership::{changes, empty_object, manager_name, nobodys, refit, reset, updated};
use crate::object::{Object, object, uid};
use crate::resources::Kind;
use crate::status::ApiError;

/// The manager of what was there before anybody applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// A request to apply.
#[derive(Clone, Debug)]
pub(crate) struct Apply {
    pub(crate) manager: String,
    pub(crate) force: bool,
    /// `status`, or empty for the rest of the object.
    pub(crate) subresource: String,
    /// What the manager wants, in presented form.
    pub(crate) wanted: Object,
}

/// What an apply makes of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Applied {
    /// The object in presented form.
    pub(crate) object: Object,
    /// The managers of its fields from now on.
    pub(crate) managed: Vec<Value>,
}

/// A field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conflict {
    /// As messages name the manager.
    manager: String,
    set: FieldSet,
}

impl Apply {
    /// Applies to the object as it is, in presented form; an empty one is created.
    pub(crate) fn to(&self, kind: &Kind, live: &Object, now: &str) -> Result<Applied, ApiError> {
        let layout = Layout::of(kind);
        let wanted = Value::Object(self.own_part(kind));
        if let Some(twice) = repeated(&wanted, layout, "") {
            return Err(ApiError::untyped_patch(kind, &self.wanted, &twice));
        }
        let mut live = live.clone();
        let mut managers = Managers::read(&live).unwrap_or_default();
        let is_new = uid(&live).is_empty();
        if is_new {
            live = empty_object(kind);
        } else if managers.0.is_empty() {
            let by = Manager {
                name: BEFORE_FIRST_APPLY.to_owned(),
                ..self.as_manager(kind, false)
            };
            managers = updated(kind, managers, (None, &live), by, now);
        }
        if let Some(meta) = live.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.remove("managedFields");
        }
        refit(kind, &mut managers);
        let (next, mut managers) = match self.merged(kind, &live, &wanted, &managers, self.force) {
            Ok(merged) => merged,
            Err(conflicts) => {
                let left = match self.manager.as_str() {
                    "kubectl" => last_applied::not_allowed(kind, &live, conflicts),
                    _ => conflicts,
                };
                if !left.is_empty() {
                    return Err(refused(left));
                }
                self.merged(kind, &live, &wanted, &managers, true)
                    .map_err(refused)?
            }
        };
        let own = self.as_manager(kind, true);
        if let Some(mut entry) = managers.take(&own) {
            entry.set = entry.set.difference(&nobodys());
            if next != live {
                entry.time = Some(now.to_owned());
            }
            if !entry.set.is_empty() {
                managers.0.push(entry);
            }
        }
        // A new object is what is wanted, without the empty fields that types bring.
        let mut next = if is_new { object(wanted) } else { next };
        if self.manager == "kubectl" && self.subresource.is_empty() {
            last_applied::keep_true(&mut next, &self.wanted);
        }
        Ok(Applied {
            object: next,
            managed: managers.write(),
        })
    }

    fn as_manager(&self, kind: &Kind, applies: bool) -> Manager {
        Manager {
            name: manager_name(&self.manager),
            applies,
            api_version: kind.api_version(),
            subresource: self.subresource.clone(),
        }
    }

    /// Only what this address lets the manager write.
    fn own_part(&self, kind: &Kind) -> Object {
        let mut wanted = self.wanted.clone();
        if self.subresource == "status" {
            wanted.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "status"));
        } else if kind.has_status {
            wanted.remove("status");
        }
        wanted
    }

    /// The object with what is wanted in it and without what is no longer, and who manages it then.
    fn merged(
        &self,
        kind: &Kind,
        live: &Object,
        wanted: &Value,
        managers: &Managers,
        force: bool,
    ) -> Result<(Object, Managers), Vec<Conflict>> {
        let layout = Layout::of(kind);
        let own = self.as_manager(kind, true);
        let mut managers = managers.clone();
        let before = managers.take(&own);
        let mut next = Value::Object(live.clone());
        merge(&mut next, wanted, layout);
        let set = FieldSet::of(wanted, layout).without(&reset(kind, &self.subresource));
        if let Some(before) = &before {
            prune(&mut next, &before.set, &set, &managers, layout);
        }
        let next = object(next);
        let changes = changes(kind, &self.subresource, live, &next);
        let removed = changes.removed.clone();
        let changed = changes.set();
        let mut conflicts: Vec<Conflict> = Vec::new();
        for entry in &managers.0 {
            let set = entry.set.intersection(&changed);
            if !set.is_empty() {
                let manager = entry.shown();
                conflicts.push(Conflict { manager, set });
            }
        }
        if !conflicts.is_empty() && !force {
            return Err(conflicts);
        }
        managers.lose(&changed);
        managers.lose(&removed);
        managers.0.push(Entry {
            manager: own,
            given: None,
            time: before.and_then(|entry| entry.time),
            set,
        });
        Ok((next, managers))
    }
}

/// Removes what a manager had and no longer wants, unless somebody else has it too.
fn prune(
    merged: &mut Value,
    before: &FieldSet,
    wanted: &FieldSet,
    others: &Managers,
    layout: Layout<'_>,
) {
    if before.is_empty() {
        return;
    }
    let fields = |value: &Value| FieldSet::of(value, layout).with_named(layout);
    let before = before.with_named(layout);
    let all = fields(merged);
    let owned = others
        .0
        .iter()
        .fold(wanted.clone(), |all, entry| all.union(&entry.set))
        .with_named(layout);
    let without = |set: &FieldSet| {
        let mut left = merged.clone();
        set.remove_from(&mut left, layout);
        left
    };
    // What somebody owns stays, and what is left without it stays too; of the rest, only what this
    // manager had goes.
    let left = fields(&without(&before)).union(&owned);
    let left = fields(&without(&all.difference(&left)));
    let gone = all.difference(&left).intersection(&before);
    *merged = without(&gone);
}

fn refused(conflicts: Vec<Conflict>) -> ApiError {
    let mut listed: Vec<(String, String)> = Vec::new();
    for conflict in conflicts {
        let paths = conflict.set.paths().into_iter();
        listed.extend(paths.map(|path| (conflict.manager.clone(), path)));
    }
    listed.sort_by(|a, b| a.0.cmp(&b.0));
    ApiError::apply_conflicts(&listed)
}

/// Says which items of a list cannot be told apart: an apply would not know which it means.
fn repeated(value: &Value, layout: Layout<'_>, path: &str) -> Option<String> {
    match value {
        Value::Object(map) if !layout.is_atomic_map() => map.iter().find_map(|(name, value)| {
            repeated(value, layout.of_field(name), &format!("{path}.{name}"))
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
                    let inside = repeated(item, layout.of_item(), &format!("{path}{shown}"));
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

#[cfg(test)]
mod tests;
