//! What an object of the original has that the one of this controller has not, and the other way round.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the API server gives to every object.
const SERVERS: [&str; 6] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "namespace",
    "resourceVersion",
    "uid",
];

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
                compare(&format!("{} ", key.0), recorded, current, &mut found);
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
        metadata.retain(|field, _| !SERVERS.contains(&field.as_str()));
        (key, object)
    });
    objects.collect()
}

/// The highest paths below which nothing is equal. To the original, as to any program in Go, an absent
/// member, `null` and an empty value are the same, and no type is another one.
fn compare(path: &str, recorded: &Value, current: &Value, found: &mut BTreeSet<String>) {
    let is_object = |value: &Value| value.is_object() && !is_empty(value);
    if is_object(recorded) && is_object(current) {
        let members = [recorded, current].map(|it| it.as_object().unwrap());
        let names: BTreeSet<&String> = members.iter().flat_map(|it| it.keys()).collect();
        for name in names {
            let dot = if path.ends_with(' ') { "" } else { "." };
            let path = format!("{path}{dot}{name}");
            compare(&path, &recorded[name], &current[name], found);
        }
    } else if let (Value::Array(recorded), Value::Array(current)) = (recorded, current) {
        let (recorded, current) = (by_key(recorded), by_key(current));
        for key in recorded.keys().chain(current.keys()) {
            let element =
                |list: &BTreeMap<String, Value>| list.get(key).cloned().unwrap_or_default();
            compare(
                &format!("{path}[]"),
                &element(&recorded),
                &element(&current),
                found,
            );
        }
    } else {
        let names = ["lastTransitionTime", "ownerReferences[].uid"];
        let is_new = names.iter().any(|name| path.ends_with(name)) && current.is_string();
        let are_empty = is_empty(recorded) && is_empty(current);
        if recorded != current && !is_new && !are_empty {
            found.insert(path.to_owned());
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// The elements of a list by what tells them apart: a condition's type, a name, or the text itself.
fn by_key(list: &[Value]) -> BTreeMap<String, Value> {
    let key = |element: &Value| {
        let named = [&element["type"], &element["name"], element];
        let key = named.into_iter().find_map(Value::as_str);
        key.unwrap_or_default().to_owned()
    };
    list.iter().map(|it| (key(it), it.clone())).collect()
}
