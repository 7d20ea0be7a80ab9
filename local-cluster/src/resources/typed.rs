//! Validation and pruning of built-in objects by Kubernetes' generated types.
//!
//! Objects are JSON maps inside the server. Decoding them as their type finds values of wrong
//! types, and what encoding that leaves out is an unknown field. So no schema of built-in kinds is
//! needed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize as _;
use serde_json::Value;

use super::Kind;
use crate::object::{Object, has_word, is_empty, is_metadata_field};

fn round_trip(kind: &Kind, object: &Object) -> Option<Result<Value, serde_json::Error>> {
    Some(kind.round_trip?(Value::Object(object.clone())))
}

/// The error names the value of a wrong type.
pub(crate) fn check_types(kind: &Kind, object: &Object) -> Result<(), String> {
    match round_trip(kind, object) {
        Some(Err(error)) => Err(in_go_words(&error)),
        _ => Ok(()),
    }
}

/// The error as Go's decoder words it, but for the names of types.
pub(crate) fn in_go_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let parts = text.strip_prefix("invalid type: ");
    let Some((given, wanted)) = parts.and_then(|parts| parts.split_once(", expected ")) else {
        return format!("parsing time: {text}");
    };
    let given = match given.split(' ').next().unwrap_or_default() {
        "boolean" => "bool",
        "map" => "object",
        "sequence" => "array",
        "string" => "string",
        _ => "number",
    };
    format!("json: cannot unmarshal {given} into Go value of type {wanted}")
}

/// Removes unknown fields and returns their paths.
pub(crate) fn unknown_fields(kind: &Kind, object: &mut Object) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(Ok(Value::Object(known))) = round_trip(kind, object) {
        keep_known(object, &known, "", &mut unknown);
    }
    unknown
}

/// Removes unknown fields of metadata and returns their paths.
pub(crate) fn unknown_metadata(object: &mut Object) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        // Only owners have fields of their own; serializing takes a twentieth of each write.
        let is_plain = |key: &String| key != "ownerReferences";
        metadata.retain(|key, _| {
            let is_known = is_metadata_field(key);
            if !is_known {
                unknown.push(format!("metadata.{key}"));
            }
            is_known
        });
        if !metadata.keys().all(is_plain)
            && let Ok(typed) = ObjectMeta::deserialize(&Value::Object(metadata.clone()))
            && let Ok(Value::Object(known)) = serde_json::to_value(typed)
        {
            keep_known(metadata, &known, "metadata", &mut unknown);
        }
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
            // An empty list of a namespace's finalizers removes them.
            _ if here == "spec.finalizers" => true,
            (value, _) if is_omitted(key, value) && !here.contains("openAPIV3Schema") => false,
            // Encoding omits empty values; they are not unknown fields.
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

/// Fields that are maps.
const MAPS: &str = "annotations binaryData capacity data labels limits matchLabels nodeSelector requests selector stringData";

/// Fields that are omitted when they are false, 0 or empty.
const ZEROS: &str = "count deprecated externalName hostIPC hostNetwork hostPID hostname loadBalancerIP minReadySeconds paused preserveUnknownFields publishNotReadyAddresses serviceAccountName subdomain unschedulable value";

/// Reads nulls in maps of strings as Go does.
pub(crate) fn fill_maps(object: &mut Object) {
    for (key, value) in object {
        let is_map = has_word(MAPS, key);
        for inner in value
            .as_object_mut()
            .into_iter()
            .filter(|_| is_map)
            .flat_map(Object::values_mut)
        {
            if inner.is_null() {
                *inner = Value::from("");
            }
        }
        if let Value::Object(map) = value {
            fill_maps(map);
        }
    }
}

/// Kubernetes' types do not distinguish these from missing fields. Of empty objects only maps are omitted.
fn is_omitted(key: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty() && key != "endpoints",
        Value::Object(map) => map.is_empty() && has_word(MAPS, key),
        value => has_word(ZEROS, key) && (*value == false || *value == 0 || *value == ""),
    }
}
