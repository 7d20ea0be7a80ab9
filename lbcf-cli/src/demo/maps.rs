//! Attributes and parameters, which are maps of texts.

use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

pub(super) fn map<const N: usize>(pairs: [(&str, &str); N]) -> StringMap {
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    pairs.into()
}

/// `weight 50, tier gold`.
pub(super) fn in_words(map: &StringMap) -> String {
    let words: Vec<_> = map
        .iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    words.join(", ")
}

pub(super) fn contains(map: &StringMap, fields: &StringMap) -> bool {
    fields
        .iter()
        .all(|(key, value)| map.get(key) == Some(value))
}

/// A merge patch from one map to another.
pub(super) fn patch(old: &StringMap, new: &StringMap) -> Value {
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    let removed = removed.map(|key| (key.clone(), Value::Null));
    let set = new.iter().map(|(key, value)| (key.clone(), json!(value)));
    Value::Object(removed.chain(set).collect())
}
