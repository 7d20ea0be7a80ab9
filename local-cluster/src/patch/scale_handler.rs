//! Managed fields of scales: those of the replicas field.

use std::collections::HashSet;

use serde_json::Value;

use super::field_set::FieldSet;
use super::managers::{ManagedFields, ManagedFieldsEntry, Manager};
use crate::object::{Object, managers, set_managers};

const REPLICAS: &[&str] = &["spec", "replicas"];
const API_VERSION: &str = "autoscaling/v1";

/// The `managedFields` of an object's scale; `path` leads to the object's replicas.
pub(crate) fn managers_of_scale(object: &Object, path: &[&str]) -> Vec<Value> {
    let mut all = ManagedFields::read(object).unwrap_or_default();
    all.0.retain(|entry| entry.set.has(path));
    for entry in &mut all.0 {
        API_VERSION.clone_into(&mut entry.manager.api_version);
        entry.set = FieldSet::path(REPLICAS);
        entry.encoded = None;
    }
    all.write()
}

/// The `managedFields` of the object after a write to its scale, which then has `of_scale`.
pub(crate) fn managers_after_scale(
    object: &Object,
    path: &[&str],
    api_version: &str,
    of_scale: Vec<Value>,
) -> Vec<Value> {
    let mut scale = Object::new();
    set_managers(&mut scale, of_scale);
    let scale = ManagedFields::read(&scale).unwrap_or_default();
    if managers(object).is_empty() && scale.0.is_empty() {
        return Vec::new();
    }
    let mut all = ManagedFields::read(object).unwrap_or_default();
    let number = FieldSet::path(path);
    let of_scale: HashSet<&Manager> = scale.0.iter().map(|entry| &entry.manager).collect();
    let mut kept: HashSet<Manager> = HashSet::new();
    for entry in &mut all.0 {
        if !entry.set.has(path) {
            continue;
        }
        let as_shown = Manager {
            api_version: API_VERSION.to_owned(),
            ..entry.manager.clone()
        };
        // Managers in both keep the field; others lose it.
        if of_scale.contains(&as_shown) {
            kept.insert(as_shown);
        } else {
            entry.set = entry.set.difference(&number);
            entry.encoded = None;
        }
    }
    all.0.retain(|entry| !entry.set.is_empty());
    for entry in scale.0 {
        if entry.set.has(REPLICAS) && !kept.contains(&entry.manager) {
            let manager = Manager {
                api_version: api_version.to_owned(),
                ..entry.manager
            };
            let more = all.take(&manager).map(|entry| entry.set);
            all.0.push(ManagedFieldsEntry {
                manager,
                set: number.clone().union(&more.unwrap_or_default()),
                encoded: None,
                ..entry
            });
        }
    }
    all.write()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn entry(manager: &str, version: &str, subresource: &str, fields: Value) -> Value {
        let mut entry = json!({"apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields,
            "manager": manager, "operation": "Update", "time": "t"});
        if !subresource.is_empty() {
            entry["subresource"] = json!(subresource);
        }
        entry
    }

    #[test]
    fn a_write_to_the_scale_takes_over_the_replicas_only() {
        let path = ["spec", "size"];
        let live = object(json!({"metadata": {"managedFields": [
            entry("a", "x/v1", "", json!({"f:spec": {"f:size": {}, "f:x": {}}}))]}}));
        assert_eq!(
            managers_of_scale(&live, &path),
            [entry(
                "a",
                API_VERSION,
                "",
                json!({"f:spec": {"f:replicas": {}}})
            )]
        );
        let scale = entry(
            "b",
            API_VERSION,
            "scale",
            json!({"f:spec": {"f:replicas": {}}}),
        );
        assert_eq!(
            managers_after_scale(&live, &path, "x/v1", vec![scale]),
            [
                entry("a", "x/v1", "", json!({"f:spec": {"f:x": {}}})),
                entry("b", "x/v1", "scale", json!({"f:spec": {"f:size": {}}})),
            ]
        );
        // Without changes the entries stay.
        let same = managers_of_scale(&live, &path);
        assert_eq!(
            managers_after_scale(&live, &path, "x/v1", same),
            managers(&live)
        );
    }
}
