//! Writes a type as a map of strings, by way of its JSON.

use super::de::is_json_list;
use super::problem::Problem;
use crate::webhook::StringMap;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::Serialize;
use serde_json::value::RawValue;
use std::fmt;

pub(super) fn write<T: Serialize>(fields: &T) -> Result<StringMap, Problem> {
    let json = serde_json::to_string(fields).map_err(Problem::custom)?;
    let what = match json.as_bytes().first() {
        Some(b'{') => return entries(&json),
        Some(b'n') => return Ok(StringMap::new()),
        Some(b'"') => "a text",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a bool",
        _ => "a number",
    };
    Err(Problem::value(format!(
        "a map of strings cannot represent {what}: use a struct or a map"
    )))
}

fn entries(object: &str) -> Result<StringMap, Problem> {
    let mut map = StringMap::new();
    let Entries(entries) = serde_json::from_str(object).map_err(Problem::custom)?;
    for (key, value) in entries {
        let Some(text) = text(value.get()).map_err(Problem::custom)? else {
            continue;
        };
        if map.contains_key(&key) {
            let twice = "is given twice: by a field and by a flattened map";
            return Err(Problem::value(twice).at(&key, &text));
        }
        map.insert(key, text);
    }
    Ok(map)
}

/// An object's entries, with keys that occur twice.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(All)
    }
}

/// The text of a JSON value; `None` for `null`.
fn text(json: &str) -> serde_json::Result<Option<String>> {
    Ok(match json.as_bytes().first() {
        Some(b'n') => None,
        Some(b'"') => Some(serde_json::from_str(json)?),
        Some(b'[') => Some(list(json)?.unwrap_or_else(|| json.to_owned())),
        Some(b'{') => Some(json.to_owned()),
        // A fraction that is whole is written as a whole number, and an exponent without plus.
        _ => Some(json.strip_suffix(".0").unwrap_or(json).replace("e+", "e")),
    })
}

/// The items separated by commas, as in `80,443`; `None` where that could not be read back.
fn list(json: &str) -> serde_json::Result<Option<String>> {
    let mut texts = Vec::new();
    for item in serde_json::from_str::<Vec<&RawValue>>(json)? {
        let is_plain = !item.get().starts_with(['{', '[']);
        let Some(text) = text(item.get())?.filter(|_| is_plain) else {
            return Ok(None);
        };
        if text.is_empty() || text.contains(',') || text.trim() != text {
            return Ok(None);
        }
        texts.push(text);
    }
    Ok(Some(texts.join(",")).filter(|list| !is_json_list(list)))
}
