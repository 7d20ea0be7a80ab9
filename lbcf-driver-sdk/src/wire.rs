//! Reads the specification's types from JSON.
//!
//! Existing controllers are written in Go, whose decoder matches field names in any letter case,
//! ignores unknown fields and reads `null` as empty. Drivers rely on that, so requests and responses
//! are read with the same tolerance, and written exactly as specified.

mod any_case;
mod checked;
mod lenient;
pub(crate) mod rfc3339;
mod streaming;

pub(crate) use lenient::{
    is_empty_map, is_zero, json_of_object, null_as_default, whole_number, whole_seconds,
};

/// Both directions of a map, for serde's `with`.
pub(crate) mod nullable_map {
    pub(crate) use super::lenient::{
        empty_map_as_null as serialize, null_as_empty_map as deserialize,
    };
}

use serde::de::DeserializeOwned;

/// A body does not follow the specification.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The body is not JSON.
    #[error("the body is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The body is JSON, but not an object.
    #[error("the body must be a JSON object, it is {found}")]
    NotAnObject {
        /// The type of the JSON value: `an array`, `null`, …
        found: &'static str,
    },
    /// A field has a value that the specification does not allow.
    #[error("{field}: {problem}")]
    Field {
        /// The path of the value, such as `podBackend.port.protocol`.
        field: String,
        /// The value and the expectation.
        problem: String,
    },
}

/// Reads one JSON object into `T`. Field names match in any letter case; the exact spelling takes
/// precedence. Bodies with exact spellings only are read about as fast as by `serde_json`.
///
/// ```
/// use lbcf_driver_sdk::webhook::EnsureBackend;
/// use lbcf_driver_sdk::wire;
///
/// let request: EnsureBackend = wire::from_slice(br#"{"recordId": "1", "lbInfo": null}"#)?;
/// assert_eq!(request.record_id, "1");
///
/// let error = wire::from_slice::<EnsureBackend>(br#"{"dryRun": "yes"}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"dryRun: invalid type: string "yes", expected a boolean"#);
/// # Ok::<(), wire::DecodeError>(())
/// ```
///
/// # Errors
/// [`DecodeError`], which names the field.
pub fn from_slice<T: DeserializeOwned>(body: &[u8]) -> Result<T, DecodeError> {
    match streaming::read(body) {
        Some(value) => Ok(value),
        None => from_value(serde_json::from_slice(body).map_err(DecodeError::NotJson)?),
    }
}

/// [`from_slice`] for a parsed value.
///
/// # Errors
/// [`DecodeError`], which names the field.
pub fn from_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, DecodeError> {
    use serde_json::Value;
    let found = match &value {
        Value::Object(_) => None,
        Value::Null => Some("null"),
        Value::Bool(_) => Some("a boolean"),
        Value::Number(_) => Some("a number"),
        Value::String(_) => Some("a string"),
        Value::Array(_) => Some("an array"),
    };
    if let Some(found) = found {
        return Err(DecodeError::NotAnObject { found });
    }
    serde_path_to_error::deserialize(any_case::AnyCase(value)).map_err(|error| {
        let field = match error.path().iter().next() {
            // A missing field of the outermost object has no path.
            None => "the body".to_owned(),
            Some(_) => error.path().to_string(),
        };
        DecodeError::Field {
            field,
            problem: error.into_inner().to_string(),
        }
    })
}

#[cfg(test)]
mod tests;
