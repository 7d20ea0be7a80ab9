//! Reading and writing the parts that every Kubernetes object has.
//!
//! Objects stay JSON maps from the request to the answer: the server must keep fields it has never
//! heard of, which typed structs would drop. These helpers keep the digging in one place.

use serde_json::{Map, Value};

/// A JSON object, the form in which every Kubernetes object is kept.
pub(crate) type Object = Map<String, Value>;

/// The map under `key`; a missing one, or a value of another type, becomes an empty map.
pub(crate) fn child<'a>(object: &'a mut Object, key: &str) -> &'a mut Object {
    let slot = object
        .entry(key)
        .or_insert_with(|| Value::Object(Object::new()));
    if !slot.is_object() {
        *slot = Value::Object(Object::new());
    }
    match slot {
        Value::Object(map) => map,
        _ => unreachable!("the slot was made an object just above"),
    }
}

/// The value at a path of keys.
pub(crate) fn at<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let mut value = object.get(*first)?;
    for key in rest {
        value = value.get(*key)?;
    }
    Some(value)
}

/// The string at a path of keys.
pub(crate) fn text<'a>(object: &'a Object, path: &[&str]) -> Option<&'a str> {
    at(object, path)?.as_str()
}

/// A string of the metadata.
pub(crate) fn meta<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    text(object, &["metadata", key])
}

/// The object's name, empty when it has none yet.
pub(crate) fn name(object: &Object) -> &str {
    meta(object, "name").unwrap_or_default()
}

/// The object's namespace, empty for cluster-scoped ones.
pub(crate) fn namespace(object: &Object) -> &str {
    meta(object, "namespace").unwrap_or_default()
}

/// The object's uid, empty when it has none yet.
pub(crate) fn uid(object: &Object) -> &str {
    meta(object, "uid").unwrap_or_default()
}

/// The object's finalizers.
pub(crate) fn finalizers(object: &Object) -> Vec<&str> {
    at(object, &["metadata", "finalizers"])
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// Sets the finalizers; an empty list removes the field, as the API server shows it.
pub(crate) fn set_finalizers(object: &mut Object, finalizers: &[&str]) {
    let meta = child(object, "metadata");
    if finalizers.is_empty() {
        meta.remove("finalizers");
    } else {
        meta.insert("finalizers".to_owned(), Value::from(finalizers.to_vec()));
    }
}

/// The entries that say who manages the object's fields.
pub(crate) fn managers(object: &Object) -> &[Value] {
    at(object, &["metadata", "managedFields"])
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Sets them; where there are none, the field goes.
pub(crate) fn set_managers(object: &mut Object, managers: Vec<Value>) {
    let meta = child(object, "metadata");
    if managers.is_empty() {
        meta.remove("managedFields");
    } else {
        meta.insert("managedFields".to_owned(), Value::Array(managers));
    }
}

/// Whether deletion of the object has begun.
pub(crate) fn is_deleting(object: &Object) -> bool {
    meta(object, "deletionTimestamp").is_some()
}

/// The object's generation, 0 when its kind has none.
pub(crate) fn generation(object: &Object) -> i64 {
    at(object, &["metadata", "generation"])
        .and_then(Value::as_i64)
        .unwrap_or_default()
}

/// A condition of the status by its type.
pub(crate) fn condition<'a>(object: &'a Object, kind: &str) -> Option<&'a Value> {
    at(object, &["status", "conditions"])?
        .as_array()?
        .iter()
        .find(|c| c.get("type").and_then(Value::as_str) == Some(kind))
}

/// Makes an [`Object`] from a `json!` literal; anything but an object gives an empty one.
pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(map) => map,
        _ => Object::new(),
    }
}
