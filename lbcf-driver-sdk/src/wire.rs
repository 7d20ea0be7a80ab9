//! How bytes become the specification's types, and back.
//!
//! The controllers in the field are written in Go: their decoder matches field names in any
//! letter case, skips unknown fields and takes `null` for "empty". Drivers grew up with that, so
//! both directions are read here just as tolerantly (decisions d1 to d3 and d7), while everything
//! that is written follows the specification to the letter.

mod any_case;
mod lenient;
mod streaming;

pub(crate) use lenient::{
    empty_map_as_null, is_zero, null_as_default, object_or_json_string, objects_or_json_strings,
    whole_seconds,
};

use serde::de::DeserializeOwned;

/// Why a body is not what the specification asks for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The body is not JSON at all.
    #[error("the body is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The body is JSON, but no object.
    #[error("the body must be a JSON object, it is {found}")]
    NotAnObject {
        /// What the body is instead: `an array`, `null`, …
        found: &'static str,
    },
    /// A field has a value that the specification does not allow.
    #[error("{field}: {problem}")]
    Field {
        /// Where the value stands, such as `podBackend.port.protocol`.
        field: String,
        /// The value and what is allowed instead.
        problem: String,
    },
}

/// Reads one JSON object into `T`: field names in any letter case, an exactly spelled field wins
/// over another spelling of it.
///
/// What is spelled as declared is read without a detour and about as fast as by `serde_json`.
///
/// ```
/// use lbcf_driver_sdk::webhook::EnsureBackendRequest;
/// use lbcf_driver_sdk::wire;
///
/// let request: EnsureBackendRequest = wire::from_slice(br#"{"recordId": "1", "lbInfo": null}"#)?;
/// assert_eq!(request.record_id, "1");
///
/// let error = wire::from_slice::<EnsureBackendRequest>(br#"{"dryRun": "yes"}"#).unwrap_err();
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

/// [`from_slice`] for a value that was parsed already.
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
            // A field that is missing from the outermost object has no path.
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
