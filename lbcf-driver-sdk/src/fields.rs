#![doc = include_str!("docs/modules/fields.md")]

mod collect;
mod de;
pub mod duration;
mod json;
mod number;
mod placeholders;
mod problem;
#[cfg(feature = "openapi")]
mod schema;
mod ser;
mod shown;
#[cfg(test)]
mod tests;

pub use json::Json;
pub use number::Number;
#[cfg(feature = "openapi")]
pub use schema::DriverSchemas;
#[cfg(feature = "openapi")]
pub(crate) use schema::schema_of;
pub use shown::nearest;

use crate::webhook::StringMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
#[cfg(feature = "server")]
use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::str::FromStr;

/// A type for one of the wire's maps: `lbSpec`, `lbInfo`, `attributes` or `parameters`. Every type
/// that serde reads and writes is one, also [`StringMap`]; see the [module](self) for the conversion.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot represent a map of strings such as lbSpec",
    note = "derive `Debug`, `serde::Serialize` and `serde::Deserialize` for it, or use `StringMap`"
)]
pub trait Fields: Debug + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Debug + Serialize + DeserializeOwned + Send + Sync + 'static> Fields for T {}

/// A type for a backend's address, whose text is opaque to the controller. Every type with [`Display`]
/// and [`FromStr`] is one, such as `String` or `SocketAddr`; [`Json`] combines several values.
///
/// It must read every text that it has written, also in earlier versions of the driver: an address
/// that cannot be read counts as never registered, and is not deregistered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot represent a backend's address",
    note = "implement `Debug`, `Display` and `FromStr` for it, or use `String`"
)]
pub trait Address: Debug + Display + FromStr<Err: Display> + Send + Sync + 'static {}

impl<T: Debug + Display + FromStr<Err: Display> + Send + Sync + 'static> Address for T {}

/// Invalid values of a map. The text names the field, the value and the expectation of each, as in
/// `lbSpec.listenerPort: "8o": not a number from 1 to 65535`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    problems: Vec<String>,
}

impl FieldError {
    fn one(problem: String) -> Self {
        Self {
            problems: vec![problem],
        }
    }

    /// The problems, of which there is at least one.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(String::as_str)
    }

    #[cfg(feature = "server")]
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.problems.extend(other.problems);
        self
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("; "))
    }
}

impl std::error::Error for FieldError {}

/// Reads a map; `map_name` names it in errors.
///
/// # Errors
/// [`FieldError`], which names the field, the value and the expectation.
pub fn read<T: Fields>(map_name: &str, map: &StringMap) -> Result<T, FieldError> {
    de::read(map).map_err(|first| FieldError {
        problems: collect::messages::<T>(map_name, map, first),
    })
}

/// [`read`] that moves the map where `T` is [`StringMap`], instead of copying it entry by entry (the
/// README's section on speed).
#[cfg(feature = "server")]
pub(crate) fn read_whole<T: Fields>(map_name: &str, map: StringMap) -> Result<T, FieldError> {
    match as_it_is(map) {
        Ok(same) => Ok(same),
        Err(map) => read(map_name, &map),
    }
}

#[cfg(feature = "server")]
pub(crate) fn read_if_it_fits<T: Fields>(map: &StringMap) -> Option<T> {
    de::read(map).ok()
}

/// Passes the converted map to `to` if it fits; without a copy where `T` is [`StringMap`].
#[cfg(feature = "server")]
pub(crate) fn show_if_it_fits<T: Fields, R>(
    map: &StringMap,
    to: impl FnOnce(&T) -> R,
) -> Option<R> {
    match (map as &dyn Any).downcast_ref() {
        Some(same) => Some(to(same)),
        None => read_if_it_fits(map).map(|read| to(&read)),
    }
}

/// The map itself if `T` is [`StringMap`], or else the map as error.
#[cfg(feature = "server")]
fn as_it_is<T: Fields>(map: StringMap) -> Result<T, StringMap> {
    let mut map = Some(map);
    let same: Option<&mut Option<T>> = (&mut map as &mut dyn Any).downcast_mut();
    match same.and_then(Option::take) {
        Some(same) => Ok(same),
        None => Err(map.unwrap_or_default()),
    }
}

/// Writes a map; `map_name` names it in errors.
///
/// # Errors
/// [`FieldError`], if a value cannot be represented by a text.
pub fn write<T: Fields>(map_name: &str, fields: &T) -> Result<StringMap, FieldError> {
    ser::write(fields).map_err(|problem| FieldError::one(problem.message(map_name)))
}

/// Reads an address, which must not be empty; `field` names it in errors.
///
/// # Errors
/// [`FieldError`], which names the field, the value and the expectation.
pub fn read_address<T: Address>(field: &str, text: &str) -> Result<T, FieldError> {
    if text.is_empty() {
        return Err(FieldError::one(format!("{field}: is empty")));
    }
    text.parse().map_err(|error| {
        let (value, error) = (shown::quoted(text), shown::message(error));
        FieldError::one(format!("{field}: {value}: {error}"))
    })
}

/// Writes an address, and checks that it is not empty and can be read back.
#[cfg(feature = "server")]
pub(crate) fn write_address<T: Address>(field: &str, address: &T) -> Result<String, FieldError> {
    let mut text = String::new();
    // As `to_string`, without its panic.
    fmt::Write::write_fmt(&mut text, format_args!("{address}"))
        .map_err(|_| FieldError::one(format!("{field}: cannot be written as text")))?;
    if text.is_empty() {
        return Err(FieldError::one(format!(
            "{field}: the driver returned an empty one"
        )));
    }
    // An address that cannot be read back could never be registered.
    read_address::<T>(field, &text)?;
    Ok(text)
}
