//! The managers of a scale are those of the number it shows.

use std::collections::HashSet;

use serde_json::Value;

use super::field_set::FieldSet;
use super::managers::{Entry, Manager, Managers};
use crate::object::{Object, managers, set_managers};

/// Where a scale has what is wanted.
const REPLICAS: &[&str] = &["spec", "replicas"];
const API_VERSION: &str = "autoscaling/v1";

/// The managers of an object's scale; `path` is where the object has the number.
pub(crate) fn managers_of_scale(object: &Object, path: &[&str]) -> Vec<Value> {
    let mut all = Managers::read(object).unwrap_or_default();
    all.0.retain(|entry| entry.set.has(path));
    for entry in &mut all.0 {
        API_VERSION.clone_into(&mut entry.manager.api_version);
        entry.set = FieldSet::path(REPLICAS);
        entry.given = None;
    }
    all.write()
}

/// The managers of the object after its scale was written, and has these.
pub(crate) fn managers_after_scale(
    object: &Object,
    path: &[&str],
    api_version: &str,
    of_scale: Vec<Value>,
) -> Vec<Value> {
    let mut scale = Object::new();
    set_managers(&mut scale, of_scale);
    let scale = Managers::read(&scale).unwrap_or_default();
    if managers(object).is_empty() && scale.0.is_empty() {
        return Vec::new();
    }
    let mut all = Managers::read(object).unwrap_or_default();
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
        // Whoever has it still keeps it; from others it was taken.
        if of_scale.contains(&as_shown) {
            kept.insert(as_shown);
        } else {
            entry.set.lose(&number);
            entry.given = None;
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
            all.0.push(Entry {
                manager,
                set: number.clone().union(&more.unwrap_or_default()),
                given: None,
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
    fn who_scales_takes_the_number_and_nothing_else() {
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
        // Nobody took it.
        let same = managers_of_scale(&live, &path);
        assert_eq!(
            managers_after_scale(&live, &path, "x/v1", same),
            managers(&live)
        );
    }
}
