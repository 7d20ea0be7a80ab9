//! A map of strings that accepts numbers as values (d20).

use crate::names;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;

/// A map whose keys and values only the driver interprets: `lbSpec`, `lbInfo`, `attributes`,
/// `parameters`, `injectedInfo`.
///
/// Published samples have numbers as values, such as `weight: 50`; they are read as strings (d20).
/// `null` is read as an empty map (b5).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StringMap(BTreeMap<String, String>);

impl StringMap {
    /// Whether it has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of characters of all keys and values.
    pub(crate) fn length(&self) -> usize {
        let entries = self.0.iter();
        let lengths = entries.map(|(key, value)| key.chars().count() + value.chars().count());
        lengths.sum()
    }

    /// A digest that is the same for equal maps only.
    pub(crate) fn digest(&self) -> String {
        names::digest_of(&self.0)
    }

    /// A copy as the wire types have it.
    #[must_use]
    pub fn to_wire(&self) -> BTreeMap<String, String> {
        self.0.clone()
    }
}

impl Deref for StringMap {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<BTreeMap<String, String>> for StringMap {
    fn from(map: BTreeMap<String, String>) -> Self {
        Self(map)
    }
}

impl<const N: usize> From<[(&str, &str); N]> for StringMap {
    fn from(entries: [(&str, &str); N]) -> Self {
        Self(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        )
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a string or a number")]
enum StringOrNumber {
    String(String),
    Integer(i64),
    Number(f64),
    Bool(bool),
}

impl<'de> Deserialize<'de> for StringMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values: BTreeMap<String, StringOrNumber> =
            Option::deserialize(deserializer)?.unwrap_or_default();
        Ok(Self(
            values
                .into_iter()
                .map(|(key, value)| {
                    let text = match value {
                        StringOrNumber::String(text) => text,
                        StringOrNumber::Integer(number) => number.to_string(),
                        StringOrNumber::Number(number) => number.to_string(),
                        StringOrNumber::Bool(flag) => flag.to_string(),
                    };
                    (key, text)
                })
                .collect(),
        ))
    }
}

impl JsonSchema for StringMap {
    fn schema_name() -> Cow<'static, str> {
        "StringMap".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "nullable": true,
            "additionalProperties": { "x-kubernetes-int-or-string": true },
        })
    }
}
