//! Managed fields after creates and updates: the manager owns the fields that it changes.

use serde_json::{Value, json};

use super::compare::{Comparison, compare_objects};
use super::field_set::FieldSet;
use super::layout::Layout;
use super::managers::{ManagedFields, ManagedFieldsEntry, Manager};
use crate::object::{self, Object, at, child};
use crate::resources::Kind;

/// Fields that no manager owns.
const UNOWNED: [&[&str]; 11] = [
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
];

/// Fields of a new object that the server sets because the client omits them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerSetFields(FieldSet);

impl ServerSetFields {
    pub(crate) fn by(kind: &Kind, request: &Object) -> Self {
        let added: &[&[&str]] = match (kind.group.as_str(), kind.plural.as_str()) {
            ("", "pods") => &[
                &["spec", "priority"],
                &["spec", "preemptionPolicy"],
                &["spec", "tolerations"],
            ],
            ("", "services") => &[
                &["spec", "clusterIPs"],
                &["spec", "ipFamilies"],
                &["spec", "ipFamilyPolicy"],
            ],
            ("", "namespaces") => &[&["spec", "finalizers"]],
            _ => &[],
        };
        let omitted = |path: &&&[&str]| at(request, path).is_none();
        let server_set: Vec<&[&str]> = added.iter().filter(omitted).copied().collect();
        Self(FieldSet::of_paths(&server_set))
    }
}

/// The `managedFields` of an object in its served version that `manager` creates.
pub(crate) fn after_create(
    kind: &Kind,
    new: &Object,
    server_set: &ServerSetFields,
    manager: &str,
    now: &str,
) -> Vec<Value> {
    let managers = ManagedFields::before_request(&Object::new(), new, "");
    let mut after = updated(kind, managers, (None, new), updater(kind, "", manager), now);
    after.remove(&server_set.0);
    after.write()
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
    let by = updater(kind, subresource, manager);
    updated(kind, managers, (Some(live), next), by, now).write()
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
    let set = set.difference(&unowned());
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

pub(super) fn unowned() -> FieldSet {
    FieldSet::of_paths(&UNOWNED)
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

/// The empty object of a kind: types of built-in kinds have fields that are never omitted.
pub(super) fn empty_object(kind: &Kind) -> Object {
    let mut empty = Object::new();
    empty.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
    empty.insert("kind".to_owned(), Value::from(kind.kind.as_str()));
    if kind.is_custom() {
        return empty;
    }
    child(&mut empty, "metadata");
    let fields = match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => json!({"spec": {"containers": null}, "status": {}}),
        ("", "services") => json!({"spec": {}, "status": {"loadBalancer": {}}}),
        ("", "events") => json!({
            "involvedObject": {}, "source": {}, "eventTime": null, "firstTimestamp": null,
            "lastTimestamp": null, "reportingComponent": "", "reportingInstance": "",
        }),
        ("events.k8s.io", "events") => json!({
            "regarding": {}, "deprecatedSource": {}, "eventTime": null,
            "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null,
        }),
        ("apps", "deployments") => {
            json!({"spec": {"selector": null, "strategy": {}, "template": template()}, "status": {}})
        }
        ("apps", "replicasets") => {
            json!({"spec": {"selector": null, "template": template()}, "status": {}})
        }
        ("apps", "statefulsets" | "daemonsets") => json!({
            "spec": {"selector": null, "updateStrategy": {}, "template": template()}, "status": {}
        }),
        ("apiextensions.k8s.io", _) => json!({
            "spec": {"names": {}, "versions": null},
            "status": {"conditions": null, "acceptedNames": {}, "storedVersions": null},
        }),
        ("coordination.k8s.io", _) => json!({"spec": {}}),
        _ if kind.has_status => json!({"spec": {}, "status": {}}),
        _ => json!({}),
    };
    empty.append(&mut object::object(fields));
    empty
}

fn template() -> Value {
    json!({"metadata": {}, "spec": {"containers": null}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::resources::Registry;

    fn update(live: Option<&Object>, by: &str, subresource: &str, next: Value) -> Object {
        let kind = Registry::new().builtin("", "pods").unwrap();
        let mut next = kind.present_object(object(next));
        let managed = match live {
            Some(live) => after_update(&kind, subresource, (live, &next), by, "now"),
            None => after_create(&kind, &next, &ServerSetFields::by(&kind, &next), by, "now"),
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
