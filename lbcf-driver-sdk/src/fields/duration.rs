//! Durations as texts such as `30s` and `1m30s`: serde's `with` for a field.
//!
//! ```
//! use lbcf_driver_sdk::fields;
//! use serde::{Deserialize, Serialize};
//! use std::time::Duration;
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Attributes {
//!     #[serde(with = "fields::duration")]
//!     timeout: Duration,
//!     // `with` takes serde's own rule for `Option` away, so absence needs `default`.
//!     #[serde(with = "fields::duration::option", default)]
//!     drain: Option<Duration>,
//! }
//!
//! let map = [("timeout".to_owned(), "1m30s".to_owned())].into();
//! let attributes: Attributes = fields::read("attributes", &map)?;
//! assert_eq!(attributes.timeout, Duration::from_secs(90));
//! assert_eq!(attributes.drain, None);
//! assert_eq!(fields::write("attributes", &attributes)?, map);
//! # Ok::<(), fields::FieldError>(())
//! ```
//!
//! Read is a number with a unit (`h`, `m`, `s`, `ms`, `us`, `ns`, or their names), or several of
//! them from the greatest to the least, the last one with a fraction if need be: `1.5h`,
//! `2h 30m`, `500ms`. A bare number, a sign and units from the day upwards are refused: nobody
//! could be sure what they mean.

use super::kind::DURATION;
use jiff::fmt::friendly::{Designator, Spacing, SpanParser, SpanPrinter};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::time::Duration;

static PARSER: SpanParser = SpanParser::new();
static PRINTER: SpanPrinter = SpanPrinter::new()
    .designator(Designator::Compact)
    .spacing(Spacing::None);

/// Reads a duration.
///
/// # Errors
/// The deserializer's, when the text is no duration.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_str(Text)
}

/// Writes a duration.
///
/// # Errors
/// The serializer's.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&PRINTER.unsigned_duration_to_string(duration))
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DURATION)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        let begins_well = text.starts_with(|c: char| c.is_ascii_digit());
        PARSER
            .parse_unsigned_duration(text)
            .ok()
            .filter(|_| begins_well)
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// The same for a field that may be absent; it needs `default` besides.
pub mod option {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::Serializer;
    use std::time::Duration;

    /// Reads a duration, if there is one.
    ///
    /// # Errors
    /// The deserializer's, when the text is no duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        struct Read(Duration);

        impl<'de> Deserialize<'de> for Read {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                super::deserialize(deserializer).map(Self)
            }
        }

        Ok(Option::<Read>::deserialize(deserializer)?.map(|Read(duration)| duration))
    }

    /// Writes a duration, if there is one.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }
}
