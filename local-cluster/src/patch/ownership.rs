//! Managed fields after creates and updates: the manager owns the fields that it changes.

use std::sync::LazyLock;

use serde_json::Value;

use super::compare::{Comparison, compare_objects};
use super::field_set::FieldSet;
use super::layout::Layout;
use super::managers::{ManagedFields, ManagedFieldsEntry, Manager};
use crate::object::{Object, number};
use crate::resources::{Kind, Scale, empty_object};

/// Fields that no manager owns.
pub(super) static UNOWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    FieldSet::of_paths(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

/// The `managedFields` of an object in its served version that `manager` creates.
pub(crate) fn after_create(
    kind: &Kind,
    subresource: &str,
    new: &Object,
    manager: &str,
    now: &str,
) -> Vec<Value> {
    let managers = ManagedFields::before_request(&Object::new(), new, "");
    updated(
        kind,
        managers,
        (None, new),
        updater(kind, subresource, manager),
        now,
    )
    .write()
}

/// The `managedFields` after an update by `manager` from `live` to `next`, both in their served
/// version.
pub(crate) fn after_update(
    kind: &Kind,
    subresource: &str,
    (live, next): (&Object, &Object),
    manager: &str,
    now: &str,
) -> Vec<Value> {
    let managers = ManagedFields::before_request(live, next, subresource);
    if managers.0.is_empty() {
        // Without managers, nothing is tracked until a client applies.
        return Vec::new();
    }
    let (by, states) = (updater(kind, subresource, manager), (Some(live), next));
    if subresource != "scale" {
        return updated(kind, managers, states, by, now).write();
    }
    let replicas = replicas(kind);
    let mut of_scale = managers.of_scale(&replicas);
    if shows_none(next) && !shows_none(live) {
        of_scale.0.clear();
    } else if !of_scale.0.is_empty() {
        of_scale = updated(kind, of_scale, states, by, now);
    }
    managers.with_scale(&of_scale, &replicas).write()
}

/// A scale has no field for zero replicas.
pub(super) fn shows_none(object: &Object) -> bool {
    number(object, &["spec", "replicas"], 1) == 0
}

/// The field that the scale of an object shows.
pub(super) fn replicas(kind: &Kind) -> FieldSet {
    let scale = kind.scale();
    let path = scale.as_ref().map(Scale::replicas_path).unwrap_or_default();
    FieldSet::of_paths(&[&path])
}

fn updater(kind: &Kind, subresource: &str, manager: &str) -> Manager {
    Manager {
        name: manager_name(manager),
        applies: false,
        api_version: kind.api_version(),
        subresource: subresource.to_owned(),
    }
}

/// The reason why `managedFields` are invalid.
pub(crate) fn managers_error(object: &Object) -> Option<&'static str> {
    ManagedFields::read(object)
        .is_none()
        .then_some("operation, apiVersion or fieldsType of an entry is not valid")
}

/// The entries after an update.
pub(super) fn updated(
    kind: &Kind,
    mut managers: ManagedFields,
    (live, next): (Option<&Object>, &Object),
    by: Manager,
    now: &str,
) -> ManagedFields {
    let empty;
    let live = match live {
        Some(live) => live,
        None => {
            empty = empty_object(kind);
            &empty
        }
    };
    reconcile_with_schema(kind, &mut managers);
    let changes = changes(kind, &by.subresource, live, next);
    managers.remove(&changes.removed);
    let set = changes.set();
    managers.remove(&set);
    let set = set.difference(&UNOWNED);
    if !set.is_empty() {
        let before = managers.take(&by).map(|entry| entry.set);
        managers.0.push(ManagedFieldsEntry {
            manager: by,
            encoded: None,
            time: Some(now.to_owned()),
            set: set.union(&before.unwrap_or_default()),
        });
    }
    managers
}

/// The changes that a write to this subresource can make.
pub(super) fn changes(kind: &Kind, subresource: &str, live: &Object, next: &Object) -> Comparison {
    let changes = compare_objects(live, next, Layout::of(kind));
    changes.without(&reset(kind, subresource))
}

/// The fields that a write to this subresource cannot change.
pub(super) fn reset(kind: &Kind, subresource: &str) -> FieldSet {
    let paths: &[&[&str]] = match subresource {
        "" if kind.has_status => &[&["status"]],
        "status" if kind.is_custom() || kind.is("apiextensions.k8s.io", kind.plural.as_str()) => {
            &[&["metadata"], &["spec"]]
        }
        "status" if kind.is("", "pods") => &[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        "status" if kind.is("apps", "deployments") => &[&["spec"], &["metadata", "labels"]],
        "status" => &[&["spec"]],
        _ => &[],
    };
    FieldSet::of_paths(paths)
}

/// Adjusts owned fields to a schema that may have changed.
pub(super) fn reconcile_with_schema(kind: &Kind, managers: &mut ManagedFields) {
    if kind.is_custom() {
        let version = kind.api_version();
        let own = |entry: &&mut ManagedFieldsEntry| entry.manager.api_version == version;
        for entry in managers.0.iter_mut().filter(own) {
            let reconciled = entry.set.reconciled(Layout::of(kind));
            if reconciled != entry.set {
                entry.set = reconciled;
                entry.encoded = None;
            }
        }
    }
}

pub(super) fn manager_name(given: &str) -> String {
    match given {
        "" => "unknown".to_owned(),
        given => given.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{at, child, object};
    use crate::resources::Registry;
    use serde_json::json;

    fn update(live: Option<&Object>, by: &str, subresource: &str, next: Value) -> Object {
        let kind = Registry::new().builtin("", "pods").unwrap();
        let mut next = kind.present_object(object(next));
        let managed = match live {
            Some(live) => after_update(&kind, subresource, (live, &next), by, "now"),
            None => after_create(&kind, "", &next, by, "now"),
        };
        child(&mut next, "metadata").insert("managedFields".to_owned(), managed.into());
        next
    }

    fn owned(object: &Object) -> Vec<(String, Value)> {
        at(object, &["metadata", "managedFields"])
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|e| {
                (
                    e["manager"].as_str().unwrap().to_owned(),
                    e["fieldsV1"].clone(),
                )
            })
            .collect()
    }

    fn pod(labels: Value, image: &str) -> Value {
        json!({
            "metadata": {"name": "p", "namespace": "d", "uid": "u", "labels": labels},
            "spec": {"containers": [{"name": "c", "image": image}]}, "status": {"phase": "Pending"},
        })
    }

    #[test]
    fn the_creator_owns_the_fields_it_sets() {
        let made = update(None, "kubectl", "", pod(json!({"a": "1"}), "i"));
        assert_eq!(
            owned(&made),
            [(
                "kubectl".to_owned(),
                json!({
                    "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                    "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}}},
                })
            )]
        );
    }

    #[test]
    fn changed_fields_change_owners_and_removed_fields_lose_them() {
        let first = update(None, "a", "", pod(json!({"x": "1", "y": "1"}), "i"));
        let mut next = first.clone();
        next["metadata"]["labels"] = json!({"x": "2"});
        let second = update(Some(&first), "b", "", Value::Object(next));
        assert_eq!(
            owned(&second),
            [
                (
                    "a".to_owned(),
                    json!({
                        "f:metadata": {"f:labels": {}},
                        "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}}},
                    })
                ),
                (
                    "b".to_owned(),
                    json!({"f:metadata": {"f:labels": {"f:x": {}}}})
                ),
            ]
        );
        // Without changes there is no new entry.
        let third = update(Some(&second), "c", "", Value::Object(second.clone()));
        assert_eq!(third, second);
    }

    #[test]
    fn each_subresource_has_its_own_managers() {
        let first = update(None, "a", "", pod(json!({}), "i"));
        let mut next = first.clone();
        next["status"] = json!({"phase": "Running"});
        next["spec"] = json!({});
        let by_main = update(Some(&first), "a", "status", Value::Object(next));
        let entries = at(&by_main, &["metadata", "managedFields"]).unwrap();
        assert_eq!(entries.as_array().unwrap().len(), 2);
        assert_eq!(entries[1]["subresource"], "status");
        assert_eq!(entries[1]["fieldsV1"], json!({"f:status": {"f:phase": {}}}));
    }

    #[test]
    fn reset_managers_are_tracked_again_after_an_apply() {
        let first = update(None, "a", "", pod(json!({}), "i"));
        let mut next = first.clone();
        next["metadata"]["managedFields"] = json!([{}]);
        let second = update(Some(&first), "b", "", Value::Object(next));
        assert_eq!(owned(&second), []);
        let mut next = second.clone();
        next["metadata"]["labels"] = json!({"l": "v"});
        let third = update(Some(&second), "b", "", Value::Object(next));
        assert_eq!(owned(&third), []);
    }
}
