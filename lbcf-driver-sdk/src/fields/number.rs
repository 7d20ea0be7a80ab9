//! Numbers with bounds.

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A number with inclusive bounds, and a default for fields that users may omit.
///
/// ```
/// use lbcf_driver_sdk::fields::{self, Number};
/// use lbcf_driver_sdk::webhook::StringMap;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Default, Serialize, Deserialize)]
/// #[serde(default, deny_unknown_fields)]
/// struct Parameters {
///     /// 0 to 256, 100 by default.
///     weight: Number<0, 256, 100>,
/// }
///
/// let parameters: Parameters = fields::read("parameters", &StringMap::new()).unwrap();
/// assert_eq!(parameters.weight.get(), 100);
/// let error = fields::read::<Parameters>(
///     "parameters",
///     &StringMap::from([("weight".into(), "257".into())]),
/// );
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "parameters.weight: \"257\": not a number from 0 to 256"
/// );
/// ```
///
/// A default out of bounds does not compile:
///
/// ```compile_fail
/// use lbcf_driver_sdk::fields::Number;
///
/// let _ = Number::<1, 10, 11>::new(1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number<const MIN: u32, const MAX: u32, const DEFAULT: u32 = MIN>(u32);

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Number<MIN, MAX, DEFAULT> {
    /// Evaluated at compile time, so that invalid bounds and defaults do not compile.
    const VALID_DEFAULT: u32 = {
        assert!(MIN <= DEFAULT && DEFAULT <= MAX, "DEFAULT is out of bounds");
        DEFAULT
    };

    /// The number, `None` out of bounds.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        // Checks the bounds of required fields, too, which never use the default.
        let _ = Self::VALID_DEFAULT;
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Default for Number<MIN, MAX, DEFAULT> {
    fn default() -> Self {
        Self(Self::VALID_DEFAULT)
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> fmt::Display
    for Number<MIN, MAX, DEFAULT>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Serialize for Number<MIN, MAX, DEFAULT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

impl<'de, const MIN: u32, const MAX: u32, const DEFAULT: u32> Deserialize<'de>
    for Number<MIN, MAX, DEFAULT>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounds<const MIN: u32, const MAX: u32, const DEFAULT: u32>;

        impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Visitor<'_> for Bounds<MIN, MAX, DEFAULT> {
            type Value = Number<MIN, MAX, DEFAULT>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{BOUNDED}{MIN} to {MAX}")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                let within = u32::try_from(number).ok().and_then(Number::new);
                within.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
        }

        deserializer.deserialize_u32(Bounds)
    }
}

#[cfg(feature = "openapi")]
impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> schemars::JsonSchema
    for Number<MIN, MAX, DEFAULT>
{
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    }
}

/// Begins the expectation of the visitor of [`Number`].
pub(super) const BOUNDED: &str = "a number from ";

/// The bounds in the expectation of [`Number`], whose words are those of other integers.
pub(super) fn bounds(expected: &str) -> Option<(i128, u128)> {
    let (min, max) = expected.strip_prefix(BOUNDED)?.split_once(" to ")?;
    Some((min.parse().ok()?, max.parse().ok()?))
}
