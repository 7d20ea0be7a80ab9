//! What an object of the original has that the one of this controller has not, and the other way round.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What the API server gives to every object.
const SERVERS: &str = "creationTimestamp generation managedFields namespace resourceVersion uid";

/// The paths at which objects of the same kind and name differ, after the kind; `+` and `-` before the
/// name of an object that only one side has.
///
/// Specs are compared of BackendRecords only, as users write the others.
pub(super) fn differences(recorded: &[Value], current: &[Value]) -> BTreeSet<String> {
    let (recorded, current) = (by_name(recorded), by_name(current));
    let mut found = BTreeSet::new();
    for key in recorded.keys().chain(current.keys()) {
        match (recorded.get(key), current.get(key)) {
            (Some(recorded), Some(current)) => {
                compare(&key.0, recorded, current, &mut found);
            }
            (Some(_), None) => drop(found.insert(format!("-{} {}", key.0, key.1))),
            _ => drop(found.insert(format!("+{} {}", key.0, key.1))),
        }
    }
    found
}

fn by_name(objects: &[Value]) -> BTreeMap<(String, String), Value> {
    let objects = objects.iter().cloned().map(|mut object| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let key = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let fields = object.as_object_mut().unwrap();
        if key.0 != "BackendRecord" {
            fields.remove("spec");
        }
        let metadata = fields["metadata"].as_object_mut().unwrap();
        metadata.retain(|field, _| SERVERS.split(' ').all(|it| it != field));
        (key, object)
    });
    objects.collect()
}

/// The highest paths below which nothing is equal. To the original, as to any program in Go, an absent
/// member, `null` and an empty value are the same, and no type is another one.
fn compare(path: &str, recorded: &Value, current: &Value, found: &mut BTreeSet<String>) {
    let is_empty = |value: &Value| [json!(null), json!(""), json!([]), json!({})].contains(value);
    let new = ["lastTransitionTime", "ownerReferences[].uid"];
    let is_new = new.iter().any(|name| path.ends_with(name)) && current.is_string();
    if recorded == current || is_new || is_empty(recorded) && is_empty(current) {
        return;
    }
    let sides = [members(recorded), members(current)];
    if sides.iter().any(BTreeMap::is_empty) {
        found.insert(path.to_owned());
        return;
    }
    for key in sides.iter().flat_map(BTreeMap::keys) {
        let side = |side: usize| sides[side].get(key).copied().unwrap_or(&Value::Null);
        compare(&format!("{path}{}", key.0), side(0), side(1), found);
    }
}

/// What a value consists of, by the end of its path, and in a list by what tells elements apart: a condition's
/// type, a name, or the text itself.
fn members(value: &Value) -> BTreeMap<(String, &str), &Value> {
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.map(|(name, it)| ((format!(".{name}"), ""), it));
    let elements = value.as_array().into_iter().flatten().map(|it| {
        let named = [&it["type"], &it["name"], it];
        let key = named.into_iter().find_map(Value::as_str);
        (("[]".to_owned(), key.unwrap_or_default()), it)
    });
    fields.chain(elements).collect()
}
