//! The versions of a definition, and the paths of their fields in messages.
//!
//! Kubernetes moves fields that all versions share to the top level before validation, and reports
//! them there.

use serde_json::Value;

use crate::object::{Object, at};

pub(super) fn versions(crd: &Object) -> impl Iterator<Item = &Object> {
    at(crd, &["spec", "versions"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

/// A field of all versions, with the path that messages report.
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

/// Whether the version at a path, or any for a shared path, has a status subresource.
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
