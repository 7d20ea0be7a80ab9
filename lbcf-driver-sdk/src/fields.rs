//! A driver's own types for what the wire has as maps of strings and as opaque text.
//!
//! Anything that serde reads and writes can stand for a map: each field is one key, whose text is
//! read as the field's type.

use crate::webhook::StringMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug, Display};
use std::str::FromStr;

/// A type that stands for one of the wire's maps: `lbSpec`, `lbInfo`, `attributes` or
/// `parameters`. Every type that serde reads and writes is one, [`StringMap`] included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a map of strings such as lbSpec",
    note = "derive `Debug`, `serde::Serialize` and `serde::Deserialize` for it, or use `StringMap`"
)]
pub trait Fields: Debug + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Debug + Serialize + DeserializeOwned + Send + Sync + 'static> Fields for T {}

/// A type that stands for a backend's address: text that the controller keeps and does not look
/// into. Every type with [`Display`] and [`FromStr`] is one, such as `String` or `SocketAddr`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a backend's address",
    note = "implement `Debug`, `Display` and `FromStr` for it, or use `String`"
)]
pub trait Address: Debug + Display + FromStr<Err: Display> + Send + Sync + 'static {}

impl<T: Debug + Display + FromStr<Err: Display> + Send + Sync + 'static> Address for T {}

/// A value that is not what its field can be. The text names field, value and expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError(String);

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FieldError {}

/// Reads the map that people know by the name `map_name`.
///
/// # Errors
/// [`FieldError`], which names field, value and expectation.
pub fn read<T: Fields>(map_name: &str, map: &StringMap) -> Result<T, FieldError> {
    let value = serde_json::to_value(map).map_err(|error| FieldError(error.to_string()))?;
    serde_json::from_value(value).map_err(|error| FieldError(format!("{map_name}: {error}")))
}

/// Writes the map that people know by the name `map_name`.
///
/// # Errors
/// [`FieldError`], when a value has no text to stand for it.
pub fn write<T: Fields>(map_name: &str, fields: &T) -> Result<StringMap, FieldError> {
    let value = serde_json::to_value(fields).map_err(|error| FieldError(error.to_string()))?;
    serde_json::from_value(value).map_err(|error| FieldError(format!("{map_name}: {error}")))
}

/// Reads the address that people know by the name `field`.
///
/// # Errors
/// [`FieldError`], which names field, value and expectation.
pub fn read_address<T: Address>(field: &str, text: &str) -> Result<T, FieldError> {
    text.parse()
        .map_err(|error| FieldError(format!("{field}: {text:?}: {error}")))
}
