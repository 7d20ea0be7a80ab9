//! The kinds of values that a field's text represents.

use super::shown;
use std::fmt;

/// The kind of value that a field's text represents. [`Display`](fmt::Display) gives the words of error
/// messages.
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
    /// Any text, or the format of one of the driver's types.
    #[default]
    Text,
    /// One of the texts `true` and `false`.
    Bool,
    /// A whole number in decimal digits.
    Integer {
        /// The least value that the type accepts.
        min: i128,
        /// The greatest value that the type accepts.
        max: u128,
    },
    /// A number with or without a fraction.
    Number,
    /// Exactly one Unicode character.
    Char,
    /// One of these texts.
    OneOf(Vec<String>),
    /// A duration such as `30s` or `1m30s`.
    Duration,
    /// Items of this kind, separated by commas.
    List(Box<Self>),
    /// A value as JSON text.
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

/// The expectation of the visitors of [`duration`](super::duration).
pub(super) const DURATION: &str = "a duration such as 30s or 1m30s";
/// The expectation of the visitor of [`Json`](super::Json).
pub(super) const JSON: &str = "JSON text";
