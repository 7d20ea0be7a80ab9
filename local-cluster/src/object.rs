//! Accessors for the parts that every Kubernetes object has.
//!
//! Objects stay JSON maps from the request to the response: the server must keep unknown fields, which
//! typed structs would drop.

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

/// The list at a path of keys, empty if there is none.
pub(crate) fn list<'a>(object: &'a Object, path: &[&str]) -> &'a [Value] {
    let list = at(object, path).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The items of the list at a path of keys.
pub(crate) fn items<'a>(object: &'a Object, path: &[&str]) -> std::slice::Iter<'a, Value> {
    list(object, path).iter()
}

/// The items of the list under a key.
pub(crate) fn items_in<'a>(value: &'a Value, key: &str) -> std::slice::Iter<'a, Value> {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[][..], Vec::as_slice).iter()
}

/// The map at a path of keys.
pub(crate) fn map<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Object> {
    at(object, path)?.as_object()
}

/// The entries of the map at a path of keys.
pub(crate) fn entries<'a>(
    object: &'a Object,
    path: &[&str],
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    map(object, path).into_iter().flatten()
}

/// The value at a path such as `spec.type`.
pub(crate) fn dotted<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    let mut keys = path.split('.');
    let first = object.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// Null, or a list or a map without content.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// The type of a value as Go's JSON decoder names it.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The maps in a list.
pub(crate) fn maps_in(list: Option<&mut Value>) -> impl Iterator<Item = &mut Object> {
    let list = list.and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The integer at a path of keys.
pub(crate) fn number(object: &Object, path: &[&str], default: i64) -> i64 {
    at(object, path).and_then(Value::as_i64).unwrap_or(default)
}

/// The string under a key; empty if there is none.
pub(crate) fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The string at a path of keys.
pub(crate) fn text<'a>(object: &'a Object, path: &[&str]) -> Option<&'a str> {
    at(object, path)?.as_str()
}

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

pub(crate) fn finalizers(object: &Object) -> Vec<&str> {
    let finalizers = items(object, &["metadata", "finalizers"]);
    finalizers.filter_map(Value::as_str).collect()
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

pub(crate) fn managers(object: &Object) -> &[Value] {
    list(object, &["metadata", "managedFields"])
}

/// Sets `metadata.managedFields`; an empty list removes the field.
pub(crate) fn set_managers(object: &mut Object, managers: Vec<Value>) {
    let meta = child(object, "metadata");
    if managers.is_empty() {
        meta.remove("managedFields");
    } else {
        meta.insert("managedFields".to_owned(), Value::Array(managers));
    }
}

/// The object has a deletion timestamp.
pub(crate) fn is_deleting(object: &Object) -> bool {
    meta(object, "deletionTimestamp").is_some()
}

/// The object's generation, 0 when its kind has none.
pub(crate) fn generation(object: &Object) -> i64 {
    number(object, &["metadata", "generation"], 0)
}

/// A condition of the status by its type.
pub(crate) fn condition<'a>(object: &'a Object, kind: &str) -> Option<&'a Value> {
    items(object, &["status", "conditions"]).find(|c| string(c, "type") == kind)
}

pub(crate) fn is_condition_true(object: &Object, kind: &str) -> bool {
    condition(object, kind).is_some_and(|c| string(c, "status") == "True")
}

/// Unwraps a JSON object; any other value gives an empty one.
pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(map) => map,
        _ => Object::new(),
    }
}
