//! Built-in objects checked against Kubernetes' own types.
//!
//! Objects stay JSON maps inside; but a pod whose `containers` is a string must be refused, and a
//! field that no pod has is pruned. Both are read off the generated types, so that no schema of
//! built-in kinds is kept by hand.

use serde_json::Value;

use super::Kind;
use crate::object::Object;

fn round_trip(kind: &Kind, object: &Object) -> Option<Result<Value, serde_json::Error>> {
    Some(kind.typed?(Value::Object(object.clone())))
}

/// Says what has the wrong type in a built-in object.
pub(crate) fn check_types(kind: &Kind, object: &Object) -> Result<(), String> {
    match round_trip(kind, object) {
        Some(Err(error)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Removes the fields that the kind does not have and names them.
pub(crate) fn unknown_fields(kind: &Kind, object: &mut Object) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(Ok(Value::Object(known))) = round_trip(kind, object) {
        keep_known(object, &known, "", &mut unknown);
    }
    unknown
}

fn keep_known(given: &mut Object, known: &Object, path: &str, unknown: &mut Vec<String>) {
    given.retain(|key, value| {
        let here = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match (value, known.get(key)) {
            // Types leave out what is empty or null; that is no unknown field.
            (Value::Null, None) => true,
            (Value::Object(map), None) if map.is_empty() => true,
            (Value::Array(list), None) if list.is_empty() => true,
            (_, None) => {
                unknown.push(here);
                false
            }
            (Value::Object(given), Some(Value::Object(known))) => {
                keep_known(given, known, &here, unknown);
                true
            }
            (Value::Array(given), Some(Value::Array(known))) => {
                for (index, (given, known)) in given.iter_mut().zip(known).enumerate() {
                    if let (Value::Object(given), Value::Object(known)) = (given, known) {
                        keep_known(given, known, &format!("{here}[{index}]"), unknown);
                    }
                }
                true
            }
            _ => true,
        }
    });
}
