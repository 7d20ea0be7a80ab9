//! Durations as texts such as `30s` and `1m30s`, for serde's `with`.
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
//!     // With `with`, serde requires `default` for an absent field. None is left out.
//!     #[serde(with = "fields::duration", default)]
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
//! A duration is one or more numbers with units (`h`, `m`, `s`, `ms`, `us`, `ns`, or their names) in
//! descending order, of which the last may have a fraction: `1.5h`, `2h 30m`, `500ms`. A bare number, a
//! sign and units of a day and more are refused as ambiguous.

use jiff::fmt::friendly::{Designator, Spacing, SpanParser, SpanPrinter};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::time::Duration;

static PARSER: SpanParser = SpanParser::new();
static PRINTER: SpanPrinter = SpanPrinter::new()
    .designator(Designator::Compact)
    .spacing(Spacing::None);

/// Reads a duration such as `1m30s`; of an `Option`, an empty text is `None`.
///
/// # Errors
/// The deserializer's, if the text is not a duration.
pub fn deserialize<'de, T: OnTheWire, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::read(deserializer)
}

/// Writes a duration such as `1m30s`.
///
/// # Errors
/// The serializer's.
pub fn serialize<T: OnTheWire, S: Serializer>(
    duration: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match duration.duration() {
        Some(duration) => serializer.serialize_str(&PRINTER.unsigned_duration_to_string(&duration)),
        None => serializer.serialize_none(),
    }
}

use on_the_wire::OnTheWire;

mod on_the_wire {
    //! [`Duration`] and `Option<Duration>`.

    use super::Text;
    use serde::de::{Deserialize, Deserializer};
    use std::time::Duration;

    pub trait OnTheWire: Sized {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
        fn duration(&self) -> Option<Duration>;
    }

    impl OnTheWire for Duration {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_str(Text)
        }

        fn duration(&self) -> Option<Duration> {
            Some(*self)
        }
    }

    impl OnTheWire for Option<Duration> {
        fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Read(Duration);

            impl<'de> Deserialize<'de> for Read {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Duration::read(deserializer).map(Self)
                }
            }

            Ok(Option::<Read>::deserialize(deserializer)?.map(|Read(duration)| duration))
        }

        fn duration(&self) -> Option<Duration> {
            *self
        }
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as 30s or 1m30s")
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
