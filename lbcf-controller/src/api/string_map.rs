//! A map of strings that accepts numbers as values.

use super::allowed;
use super::names::digest_of;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A map whose keys and values only the driver interprets: `lbSpec`, `lbInfo`, `attributes`,
/// `parameters`, `injectedInfo`.
///
/// Published samples have numbers as values, such as `weight: 50`; they are read as strings.
/// `null` is read as an empty map. A copy shares the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringMap(Arc<BTreeMap<String, String>>);

impl StringMap {
    /// True for a map without entries.
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

    /// Why what a driver returned cannot be stored in a status: with the rest of its object it might exceed what
    /// the cluster stores.
    pub(crate) fn excess(&self, what: &str) -> Option<String> {
        let (length, most) = (self.length(), allowed::MAP);
        (length > most)
            .then(|| format!("{what} has {length} characters; at most {most} are allowed"))
    }

    /// True while other copies share the entries.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// A digest that is the same for equal maps only.
    pub(crate) fn digest(&self) -> String {
        digest_of(&self.0)
    }

    /// A copy as the wire types have it.
    #[must_use]
    pub fn to_wire(&self) -> BTreeMap<String, String> {
        BTreeMap::clone(&self.0)
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
        Self(Arc::new(map))
    }
}

impl<const N: usize> From<[(&str, &str); N]> for StringMap {
    fn from(entries: [(&str, &str); N]) -> Self {
        let entries = entries.map(|(key, value)| (key.to_owned(), value.to_owned()));
        BTreeMap::from(entries).into()
    }
}

impl Serialize for StringMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StringMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values: Option<BTreeMap<String, Text>> = Option::deserialize(deserializer)?;
        let entries = values.into_iter().flatten();
        let entries: BTreeMap<_, _> = entries.map(|(key, Text(text))| (key, text)).collect();
        Ok(entries.into())
    }
}

/// A string, or another scalar as its text.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_string<E>(self, text: String) -> Result<String, E> {
        Ok(text)
    }

    fn visit_i64<E>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<String, E> {
        Ok(flag.to_string())
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
