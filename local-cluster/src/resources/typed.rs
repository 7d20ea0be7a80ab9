//! Validation and pruning of built-in objects by Kubernetes' generated types.
//!
//! Objects are JSON maps inside the server. Decoding them as their type finds values of wrong
//! types, and what encoding that leaves out is an unknown field. So no schema of built-in kinds is
//! needed.

use serde_json::Value;

use super::Kind;
use crate::object::{Object, is_empty};

fn round_trip(kind: &Kind, object: &Object) -> Option<Result<Value, serde_json::Error>> {
    Some(kind.round_trip?(Value::Object(object.clone())))
}

/// The error names the value of a wrong type.
pub(crate) fn check_types(kind: &Kind, object: &Object) -> Result<(), String> {
    match round_trip(kind, object) {
        Some(Err(error)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Removes unknown fields and returns their paths.
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
            // Encoding omits empty values and nulls; they are not unknown fields.
            (value, None) if is_empty(value) => true,
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
