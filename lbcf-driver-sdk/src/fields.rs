//! A driver's own types for what the wire has as maps of strings and as opaque text.
//!
//! Anything that serde reads and writes can stand for a map: each field is one key, whose text is
//! read as the field's type. What does not fit is told with field, value and expectation.
//!
//! ```
//! use lbcf_driver_sdk::fields;
//! use lbcf_driver_sdk::webhook::StringMap;
//! use serde::{Deserialize, Serialize};
//! use std::num::NonZeroU16;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! #[serde(rename_all = "camelCase", deny_unknown_fields)]
//! struct LbSpec {
//!     listener_port: NonZeroU16,
//!     #[serde(default)]
//!     scheme: Scheme,
//!     subnet: Option<String>,
//! }
//!
//! #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
//! #[serde(rename_all = "lowercase")]
//! enum Scheme {
//!     #[default]
//!     Internal,
//!     Internet,
//! }
//!
//! let map = |entries: &[(&str, &str)]| -> StringMap {
//!     entries.iter().map(|(key, text)| ((*key).into(), (*text).into())).collect()
//! };
//! let spec: LbSpec = fields::read("lbSpec", &map(&[("listenerPort", "80")]))?;
//! assert_eq!(spec.scheme, Scheme::Internal);
//! assert_eq!(
//!     fields::write("lbSpec", &spec)?,
//!     map(&[("listenerPort", "80"), ("scheme", "internal")])
//! );
//!
//! let wrong = map(&[("listenerPort", "8o"), ("sceme", "internet")]);
//! assert_eq!(
//!     fields::read::<LbSpec>("lbSpec", &wrong).unwrap_err().to_string(),
//!     "lbSpec.listenerPort: \"8o\": not a number from 1 to 65535; \
//!      lbSpec.sceme: unknown, did you mean scheme? The keys are listenerPort, scheme, subnet"
//! );
//! # Ok::<(), fields::FieldError>(())
//! ```
//!
//! # What stands for a map
//! | type | read from | written as |
//! |---|---|---|
//! | a struct | its fields; further keys are ignored, unless it says `deny_unknown_fields` | its fields |
//! | [`StringMap`], `HashMap<String, T>` | all keys, empty texts too | all keys |
//! | a struct with `#[serde(flatten)] rest: StringMap` | its fields; further keys go to `rest` | its fields and `rest` |
//! | `()`, a unit struct | the empty map; any key is refused | the empty map |
//! | `Option` of these | the empty map is `None` | `None` is the empty map |
//! | an enum that holds structs | one key, the variant, with the struct as JSON | the same |
//!
//! `rename`, `rename_all`, `alias`, `default`, `skip`, `with`, `try_from` and one's own
//! `Deserialize` are serde's and do what they do. Serde hands a flattened *struct*, and an enum
//! that is `untagged` or tagged inside, texts only: a number in there is not read.
//!
//! # What stands for a text
//! | type of the field | text | refused |
//! |---|---|---|
//! | `u8` … `i128`, `NonZero…` | plain digits: `80`, `-1` | `+80`, `080`, `0x50`, `1e3`, `8.0`, and what is out of range |
//! | `f32`, `f64` | as JSON has numbers: `0.25`, `1e3` | `.5`, `+1`, `NaN`, `inf`, and what is too large to be finite |
//! | `bool` | `true`, `false` | `True`, `yes`, `1`: what one program takes for true another does not |
//! | `char` | one character | |
//! | `String` | any text | |
//! | an enum without data | the variant's name for serde, letter case and all | |
//! | an enum with data | JSON, as `{"variant": …}` | |
//! | `Option<T>` | as `T`; absence is `None` | |
//! | a newtype | as what it holds | |
//! | `Vec<T>`, tuples, arrays, sets | items with commas between: `80, 443`; or a JSON list | an empty item, and a list in a list unless all of it is JSON |
//! | `Duration` with [`duration`] | `30s`, `1m30s`, `1.5h` | `30`, `-1s`, `1d` |
//! | `IpAddr`, `SocketAddr`, `PathBuf`, UUIDs … | what serde has for people | |
//! | a struct, a map | JSON text | |
//! | [`Json<T>`] | JSON text, for types that look at what they read | |
//!
//! * **Every value has one text**, where that is possible: `80` and `080` are one port and two
//!   texts, and what compares texts takes them for two ports. White space around a value belongs
//!   to it, so `" 80"` is no number; only items of a list may have some around them.
//! * **An empty text is no value.** Templates leave `key: ""` behind, so for a struct's field it
//!   is as good as absent: `None`, the default, or, where the field is required, an error that
//!   says `is empty`. So a list that may be empty needs a `default`. Maps keep empty texts.
//! * **What is written is read back as the same**, with what was just said: an empty `String` or
//!   list reads as its default. A list of which an item is empty or has a comma or white space at
//!   an end in it is written as JSON. Numbers that are not finite cannot be written.
//! * **All problems of a map are told**, as far as they can be seen: serde stops at the first, so
//!   the map is read again with something else in the place of the wrong value, up to eight times.
//! * **Messages stay short**: values are cut at 100 characters, with control characters escaped.
//!   What a type's own check says is shown behind field and value.
//!
//! # Secrets
//! Messages show the value, and they reach the user, the events of Kubernetes and the log. A map
//! is readable by whoever may read the object, so a secret belongs into none; let a field name
//! where the driver finds it.

mod collect;
mod de;
pub mod duration;
mod json;
mod kind;
mod probe;
mod problem;
mod recorder;
mod schema;
mod ser;
mod shown;
mod stand_ins;
#[cfg(test)]
mod tests;

pub use json::{Json, NotJson};
pub use kind::Kind;
pub use schema::{DriverSchemas, FieldSchema, Schema};

use crate::webhook::StringMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::str::FromStr;

/// A type that stands for one of the wire's maps: `lbSpec`, `lbInfo`, `attributes` or
/// `parameters`. Every type that serde reads and writes is one, [`StringMap`] included; the
/// [module](self) says what becomes of which type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a map of strings such as lbSpec",
    note = "derive `Debug`, `serde::Serialize` and `serde::Deserialize` for it, or use `StringMap`"
)]
pub trait Fields: Debug + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Debug + Serialize + DeserializeOwned + Send + Sync + 'static> Fields for T {}

/// A type that stands for a backend's address: text that the controller keeps and does not look
/// into. Every type with [`Display`] and [`FromStr`] is one, such as `String` or `SocketAddr`;
/// [`Json`] makes one of several parts.
///
/// It reads every text that it ever wrote, also those of earlier versions of the driver: an
/// address that cannot be read counts as one that was never registered, and is not taken away.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a backend's address",
    note = "implement `Debug`, `Display` and `FromStr` for it, or use `String`"
)]
pub trait Address: Debug + Display + FromStr<Err: Display> + Send + Sync + 'static {}

impl<T: Debug + Display + FromStr<Err: Display> + Send + Sync + 'static> Address for T {}

/// Values that are not what their fields can be. The text names field, value and expectation of
/// each, as in `lbSpec.listenerPort: "8o": not a number from 1 to 65535`.
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

    /// What is wrong, one by one: never nothing.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(String::as_str)
    }

    /// This and that.
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

/// Reads the map that people know by the name `map_name`.
///
/// # Errors
/// [`FieldError`], which names field, value and expectation.
pub fn read<T: Fields>(map_name: &str, map: &StringMap) -> Result<T, FieldError> {
    de::read(map, None).map_err(|first| FieldError {
        problems: collect::messages::<T>(map_name, map, first),
    })
}

/// [`read`] for a map that nobody else needs. One that is asked for as a map is taken as it is:
/// where all three of a small call's were, reading them entry by entry into equal ones was 10,000 of
/// the 76,000 instructions that it took outside the system.
pub(crate) fn read_whole<T: Fields>(map_name: &str, map: StringMap) -> Result<T, FieldError> {
    match as_it_is(map) {
        Ok(same) => Ok(same),
        Err(map) => read(map_name, &map),
    }
}

/// Reads a map of which nobody wants to know what is wrong with it.
pub(crate) fn read_if_it_fits<T: Fields>(map: &StringMap) -> Option<T> {
    de::read(map, None).ok()
}

/// Shows what a map holds, if it fits; one that is asked for as a map as it is.
pub(crate) fn show_if_it_fits<T: Fields, R>(
    map: &StringMap,
    to: impl FnOnce(&T) -> R,
) -> Option<R> {
    match (map as &dyn Any).downcast_ref() {
        Some(same) => Some(to(same)),
        None => read_if_it_fits(map).map(|read| to(&read)),
    }
}

/// The map, where the type is no other.
fn as_it_is<T: Fields>(map: StringMap) -> Result<T, StringMap> {
    let mut map = Some(map);
    let same: Option<&mut Option<T>> = (&mut map as &mut dyn Any).downcast_mut();
    match same.and_then(Option::take) {
        Some(same) => Ok(same),
        None => Err(map.unwrap_or_default()),
    }
}

/// Writes the map that people know by the name `map_name`.
///
/// # Errors
/// [`FieldError`], when a value has no text to stand for it.
pub fn write<T: Fields>(map_name: &str, fields: &T) -> Result<StringMap, FieldError> {
    ser::write(fields).map_err(|problem| FieldError::one(problem.message(map_name)))
}

/// Reads the address that people know by the name `field`. It is never the empty text.
///
/// # Errors
/// [`FieldError`], which names field, value and expectation.
pub fn read_address<T: Address>(field: &str, text: &str) -> Result<T, FieldError> {
    if text.is_empty() {
        return Err(FieldError::one(format!("{field}: is empty")));
    }
    text.parse().map_err(|error| {
        let (value, error) = (shown::quoted(text), shown::message(error));
        FieldError::one(format!("{field}: {value}: {error}"))
    })
}

/// Writes the address that people know by the name `field`, which is never empty and is read
/// back as itself.
pub(crate) fn write_address<T: Address>(field: &str, address: &T) -> Result<String, FieldError> {
    let text = shown::written(address)
        .map_err(|_| FieldError::one(format!("{field}: has no text that stands for it")))?;
    if text.is_empty() {
        return Err(FieldError::one(format!(
            "{field}: the driver gave an empty one"
        )));
    }
    // What cannot be read back could never be registered.
    read_address::<T>(field, &text)?;
    Ok(text)
}
