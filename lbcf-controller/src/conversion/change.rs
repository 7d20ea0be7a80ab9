//! The changes of a conversion, and the reasons why it failed.

use crate::process::text::shortened;
use serde_json::Value;
use std::fmt;

/// The longest quotation of a value, in characters.
const QUOTE_LIMIT: usize = 200;

/// A field that a conversion moved, rewrote, added or removed. It is displayed on one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub(super) object: String,
    pub(super) field: String,
    pub(super) old: Option<Value>,
    /// The field that has the value now, which may be another one; none for a field that was removed.
    pub(super) new: Option<(String, Value)>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, field, .. } = self;
        write!(f, "{object}: {field}: ")?;
        match &self.old {
            Some(old) => f.write_str(&quoted(old))?,
            None => f.write_str("(absent)")?,
        }
        match &self.new {
            None => f.write_str(" -> (removed)"),
            Some((new_field, new)) if new_field == field => write!(f, " -> {}", quoted(new)),
            Some((new_field, new)) => write!(f, " -> {new_field}: {}", quoted(new)),
        }
    }
}

/// Why a document cannot be parsed or converted: the document, the field, its value, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {problem}")]
pub struct ConversionError {
    pub(super) object: String,
    pub(super) problem: String,
}

/// All errors of a conversion, displayed on one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionErrors(pub Vec<ConversionError>);

impl fmt::Display for ConversionErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConversionErrors {}

/// A value as JSON on one line, shortened.
pub(super) fn quoted(value: &Value) -> String {
    shortened(value.to_string(), QUOTE_LIMIT)
}
