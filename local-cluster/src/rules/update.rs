//! Updates: which fields take effect, and whether anything changes.

use serde_json::Value;

use super::complete::complete;
use super::metadata::DELETION;
use super::options::Part;
use crate::object::{self, Object, at, child, finalizers, is_deleting};
use crate::resources::Kind;
use crate::status::ApiError;
use crate::store::Stored;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Update {
    Unchanged,
    /// The new stored form.
    Replace(Object),
    /// The last finalizer of an object with a deletion timestamp was removed.
    Remove(Object),
}

/// Metadata that only the server sets.
const SERVER_OWNED: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "generation",
    "selfLink",
];

/// Decides an update to an object that is decoded and has clean metadata. Returns warnings for the
/// client.
pub(crate) fn decide_update(
    kind: &Kind,
    current: &Stored,
    mut next: Object,
    part: Part,
) -> Result<(Update, Vec<String>), ApiError> {
    check_preconditions(kind, current, &next)?;
    let mut before = kind.present(current);
    if let Some(custom) = &kind.custom {
        // The schema may have changed since the object was stored.
        custom.coerce(&mut before);
    }
    let mut merged = match part {
        // A status update leaves the rest unchanged; but most built-in kinds take metadata from it,
        // too.
        Part::Status => {
            let mut merged = before.clone();
            merged.remove("status");
            if let Some(status) = next.remove("status") {
                merged.insert("status".to_owned(), status);
            }
            let managers = object::managers(&next).to_vec();
            if !kind.is_custom() && kind.group != "apiextensions.k8s.io" {
                keep_server_owned(&mut next, &before);
                keep_from_status(kind, &mut next, &before);
                let metadata = next.remove("metadata").unwrap_or_default();
                merged.insert("metadata".to_owned(), metadata);
            }
            object::set_managers(&mut merged, managers);
            merged
        }
        Part::Main | Part::Scale | Part::Finalize => {
            keep_server_owned(&mut next, &before);
            if kind.has_status {
                next.remove("status");
                if let Some(status) = before.get("status") {
                    next.insert("status".to_owned(), status.clone());
                }
            }
            if part != Part::Finalize {
                keep_namespace_finalizers(kind, &mut next, &before);
            }
            next
        }
    };
    let version = Value::from(current.revision.to_string());
    child(&mut merged, "metadata").insert("resourceVersion".to_owned(), version);
    let warnings = complete(kind, &mut merged, Some((&before, part)))?;
    if kind.has_generation
        && part != Part::Status
        && desired_state(kind, &merged) != desired_state(kind, &before)
    {
        let generation = object::generation(&before) + 1;
        child(&mut merged, "metadata").insert("generation".to_owned(), Value::from(generation));
    }
    let mut next = kind.to_storage(merged);
    keep_times(&mut next, &current.object);
    let update = if next == current.object {
        Update::Unchanged
    } else if is_removable(&next) {
        Update::Remove(next)
    } else {
        Update::Replace(next)
    };
    Ok((update, warnings))
}

/// Drops new times of managed fields if nothing else changed: a manager may have changed a field
/// that the server then reset.
fn keep_times(next: &mut Object, before: &Object) {
    let (new, old) = (object::managers(next), object::managers(before));
    let without_time = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
        entry
    };
    let only_times = new != old
        && new.len() == old.len()
        && new
            .iter()
            .zip(old)
            .all(|(a, b)| without_time(a) == without_time(b));
    if !only_times {
        return;
    }
    let (new, old) = (new.to_vec(), old.to_vec());
    object::set_managers(next, old);
    if next != before {
        object::set_managers(next, new);
    }
}

/// True for an object with a deletion timestamp, without finalizers and grace period.
pub(crate) fn is_removable(object: &Object) -> bool {
    let grace = at(object, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
    let held_as_namespace = !object::list(object, &["spec", "finalizers"]).is_empty()
        && object::text(object, &["status", "phase"]) == Some("Terminating");
    is_deleting(object)
        && finalizers(object).is_empty()
        && grace.unwrap_or(0) == 0
        && !held_as_namespace
}

fn check_preconditions(kind: &Kind, current: &Stored, next: &Object) -> Result<(), ApiError> {
    let version = object::meta(next, "resourceVersion").unwrap_or("0");
    let Ok(version) = version.parse::<u64>() else {
        let why = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
        return Err(ApiError::unexplained(why));
    };
    if version == 0 && !kind.unconditional_update {
        return Err(ApiError::version_required(kind, &current.name));
    }
    let uid = object::uid(next);
    if !uid.is_empty() && uid != current.uid() {
        let key = [&kind.group, &kind.plural, &current.namespace, &current.name];
        let key = key.iter().filter(|part| !part.is_empty());
        let key: String = key.map(|part| format!("/{part}")).collect();
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            current.uid()
        );
        return Err(ApiError::conflict(kind, &current.name, &why));
    }
    if version != 0 && version != current.revision {
        return Err(ApiError::modified(kind, &current.name));
    }
    Ok(())
}

fn keep_server_owned(next: &mut Object, before: &Object) {
    keep_metadata(next, before, SERVER_OWNED);
    if is_deleting(before) {
        keep_metadata(next, before, &DELETION);
    }
}

/// Metadata that a status update cannot change.
fn keep_from_status(kind: &Kind, next: &mut Object, before: &Object) {
    let keys: &[&str] = match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => &["ownerReferences", "deletionTimestamp"],
        ("apps", "deployments") => &["labels"],
        _ => &[],
    };
    keep_metadata(next, before, keys);
}

fn keep_metadata(next: &mut Object, before: &Object, keys: &[&str]) {
    let meta = child(next, "metadata");
    for key in keys {
        match at(before, &["metadata", key]) {
            Some(value) => meta.insert((*key).to_owned(), value.clone()),
            None => meta.remove(*key),
        };
    }
}

/// `spec.finalizers` changes through the `finalize` subresource only.
fn keep_namespace_finalizers(kind: &Kind, next: &mut Object, before: &Object) {
    if !kind.is("", "namespaces") {
        return;
    }
    if let Some(list) = at(before, &["spec", "finalizers"]) {
        child(next, "spec").insert("finalizers".to_owned(), list.clone());
    }
}

/// The fields whose changes the generation counts: all but metadata and, with a status subresource, status.
/// That of EndpointSlices counts labels, too, and that of Deployments annotations.
fn desired_state(kind: &Kind, object: &Object) -> Object {
    let mut desired = object.clone();
    let metadata = desired.remove("metadata");
    let counted = match (kind.group.as_str(), kind.plural.as_str()) {
        ("discovery.k8s.io", "endpointslices") => "labels",
        ("apps", "deployments") => "annotations",
        _ => "",
    };
    if let Some(counted) = metadata.as_ref().and_then(|m| m.get(counted)) {
        desired.insert("metadata".to_owned(), counted.clone());
    }
    if kind.has_status {
        desired.remove("status");
    }
    desired
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::resources::{Registry, kinds_of};
    use serde_json::json;

    fn widgets() -> Kind {
        let crd = object(json!({"metadata": {"name": "widgets.x"}, "spec": {
            "group": "x", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"x-kubernetes-preserve-unknown-fields": true}}}]}}));
        kinds_of(&crd).remove(0)
    }

    fn stored(extra: Value) -> Stored {
        let mut meta = json!({"name": "w", "namespace": "d", "uid": "u", "generation": 1});
        json_patch::merge(&mut meta, &extra);
        Stored::new(
            object(json!({"metadata": meta, "spec": {"a": 1}, "status": {"s": 1}})),
            7,
        )
    }

    fn update(current: &Stored, change: Value, part: Part) -> Result<Update, ApiError> {
        let kind = widgets();
        let mut next = Value::Object(kind.present(current));
        json_patch::merge(&mut next, &change);
        decide_update(&kind, current, object(next), part).map(|(update, _)| update)
    }

    #[test]
    fn the_generation_counts_changes_of_the_spec_only() {
        let current = stored(json!({}));
        for (change, part, generation) in [
            (json!({"spec": {"a": 2}}), Part::Main, 2),
            (json!({"metadata": {"labels": {"l": "v"}}}), Part::Main, 1),
            (json!({"status": {"s": 2}}), Part::Status, 1),
        ] {
            let Update::Replace(next) = update(&current, change, part).unwrap() else {
                panic!()
            };
            assert_eq!(object::generation(&next), generation);
        }
    }

    #[test]
    fn each_part_leaves_the_other_unchanged() {
        let current = stored(json!({}));
        assert_eq!(
            update(&current, json!({"status": {"s": 9}}), Part::Main).unwrap(),
            Update::Unchanged
        );
        assert_eq!(
            update(&current, json!({"spec": {"a": 9}}), Part::Status).unwrap(),
            Update::Unchanged
        );
    }

    #[test]
    fn removing_the_last_finalizer_removes_the_object() {
        let current = stored(
            json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 0, "finalizers": ["a/b"]}),
        );
        let removed = update(
            &current,
            json!({"metadata": {"finalizers": null}}),
            Part::Main,
        )
        .unwrap();
        assert!(matches!(removed, Update::Remove(_)));
        let more = update(
            &current,
            json!({"metadata": {"finalizers": ["a/b", "c/d"]}}),
            Part::Main,
        );
        assert!(more.unwrap_err().message().contains("no new finalizers"));
    }

    #[test]
    fn versions_guard_against_lost_updates() {
        let current = stored(json!({}));
        let stale = update(
            &current,
            json!({"metadata": {"resourceVersion": "6"}, "spec": {"a": 2}}),
            Part::Main,
        );
        assert_eq!(stale.unwrap_err().reason(), "Conflict");
        let none = update(
            &current,
            json!({"metadata": {"resourceVersion": null}}),
            Part::Main,
        );
        assert_eq!(none.unwrap_err().code(), 422);
        let junk = update(
            &current,
            json!({"metadata": {"resourceVersion": "x"}}),
            Part::Main,
        );
        assert_eq!(junk.unwrap_err().code(), 500);
        let pods = Registry::new().builtin("", "pods").unwrap();
        assert!(pods.unconditional_update);
    }
}
