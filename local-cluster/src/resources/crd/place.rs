//! Where in a definition its parts are said to be.
//!
//! Kubernetes moves what all versions have alike to the definition as a whole before it looks at it,
//! and names it there.

use serde_json::Value;

use crate::object::{Object, at};

/// The versions of a definition.
pub(super) fn versions(crd: &Object) -> impl Iterator<Item = &Object> {
    at(crd, &["spec", "versions"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

/// A part of versions: what it is, and where the message says it is.
pub(super) fn parts<'a>(crd: &'a Object, key: &str, shared: &str) -> Vec<(String, &'a Value)> {
    let all: Vec<Option<&Value>> = versions(crd)
        .map(|version| version.get(key).filter(|part| !part.is_null()))
        .collect();
    let alike = all.windows(2).all(|pair| match pair {
        [one, other] => one == other,
        _ => true,
    });
    if alike {
        let first = all.first().copied().flatten();
        return first
            .map(|part| (format!("spec.{shared}"), part))
            .into_iter()
            .collect();
    }
    let numbered = all.into_iter().enumerate();
    numbered
        .filter_map(|(index, part)| Some((format!("spec.versions[{index}].{key}"), part?)))
        .collect()
}

/// Whether a version, or any where that cannot be told, has a status of its own.
pub(super) fn has_status(crd: &Object, schema_place: &str) -> bool {
    let one = |version: &Object| {
        version
            .get("subresources")
            .and_then(|s| s.get("status"))
            .is_some_and(|s| !s.is_null())
    };
    let index = schema_place
        .strip_prefix("spec.versions[")
        .and_then(|rest| rest.split(']').next())
        .and_then(|index| index.parse::<usize>().ok());
    match index {
        Some(index) => versions(crd).nth(index).is_some_and(one),
        None => versions(crd).any(one),
    }
}
