//! What the text of a field stands for, as far as its type tells.

use super::shown;
use std::fmt;

/// What the text of a field stands for. [`Display`](fmt::Display) says it as messages do.
///
/// ```
/// use lbcf_driver_sdk::fields::Kind;
///
/// let port = Kind::Integer { min: 1, max: 65535 };
/// assert_eq!(port.to_string(), "a number from 1 to 65535");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Kind {
    /// Any text, or one that a type of the driver's own reads.
    #[default]
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number in decimal digits.
    Integer {
        /// The least one.
        min: i128,
        /// The greatest one.
        max: u128,
    },
    /// A number with or without a fraction.
    Number,
    /// A single character.
    Char,
    /// One of these words.
    OneOf(Vec<String>),
    /// A time such as `30s` or `1m30s`.
    Duration,
    /// Several of this kind, separated by commas.
    List(Box<Self>),
    /// JSON text.
    Json,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("a text"),
            Self::Bool => f.write_str("true or false"),
            Self::Integer { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Number => f.write_str("a number such as 1 or 0.25"),
            Self::Char => f.write_str("a single character"),
            Self::OneOf(words) => {
                let words = shown::listed(words.iter().map(String::as_str));
                write!(f, "one of {words}")
            }
            Self::Duration => f.write_str(DURATION),
            Self::List(item) => write!(f, "a list separated by commas, each {item}"),
            Self::Json => f.write_str(JSON),
        }
    }
}

/// What the visitors of [`duration`](super::duration) say that they expect.
pub(super) const DURATION: &str = "a duration such as 30s or 1m30s";
/// What the visitor of [`Json`](super::Json) says that it expects.
pub(super) const JSON: &str = "JSON text";
