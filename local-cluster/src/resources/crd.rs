//! CustomResourceDefinitions: defaults, validation, and the kinds that they declare.

mod definition;
mod keywords;
mod naming;
mod rules;
mod schema;

use std::sync::Arc;

use serde_json::{Value, json};

pub(crate) use self::definition::{crd_errors, format_warnings};
pub(crate) use self::naming::{Names, accept_names, is_established};

use self::definition::{columns_of, scale_of, schema_of, selectable_of, versions};
use super::{Custom, Kind};
use crate::object::{Object, at, child, text};
use crate::store::Resource;

/// Fills in names, conversion and the initial status.
pub(crate) fn crd_defaults(crd: &mut Object) {
    let kind = text(crd, &["spec", "names", "kind"])
        .unwrap_or_default()
        .to_owned();
    let stored: Vec<Value> = versions(crd)
        .filter(|v| v.get("storage").and_then(Value::as_bool) == Some(true))
        .filter_map(|v| v.get("name").cloned())
        .take(1)
        .collect();
    let spec = child(crd, "spec");
    spec.entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    let names = child(spec, "names");
    let fill = |names: &mut Object, key: &str, value: String| {
        if names
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        {
            names.insert(key.to_owned(), Value::from(value));
        }
    };
    fill(names, "singular", kind.to_lowercase());
    fill(names, "listKind", format!("{kind}List"));
    let status = child(crd, "status");
    status.entry("conditions").or_insert(Value::Null);
    status
        .entry("acceptedNames")
        .or_insert_with(|| json!({"plural": "", "kind": ""}));
    // Objects may remain in a version until they are written again.
    let kept = status.entry("storedVersions").or_insert_with(|| json!([]));
    if !kept.is_array() {
        *kept = json!([]);
    }
    for version in stored {
        if let Some(kept) = kept.as_array_mut()
            && !kept.contains(&version)
        {
            kept.push(version);
        }
    }
}

/// The kinds of a valid definition: one for each served version.
pub(crate) fn kinds_of(crd: &Object) -> Vec<Kind> {
    versions(crd)
        .filter(|v| v.get("served").and_then(Value::as_bool) != Some(false))
        .filter_map(|version| kind_of(crd, version))
        .collect()
}

/// The accepted names once there are any, otherwise those of the spec.
fn served_names(crd: &Object) -> [&'static str; 2] {
    match text(crd, &["status", "acceptedNames", "plural"]) {
        Some(plural) if !plural.is_empty() => ["status", "acceptedNames"],
        _ => ["spec", "names"],
    }
}

fn kind_of(crd: &Object, version: &Object) -> Option<Kind> {
    let [at_names, names] = served_names(crd);
    let word = |path: &[&str]| text(crd, path).unwrap_or_default().to_owned();
    let words = |key: &str| -> Vec<String> {
        at(crd, &[at_names, names, key])
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|v| Some(v.as_str()?.to_owned()))
            .collect()
    };
    let (group, plural) = (word(&["spec", "group"]), word(&[at_names, names, "plural"]));
    Some(Kind {
        version: version.get("name")?.as_str()?.to_owned(),
        kind: word(&[at_names, names, "kind"]),
        list_kind: word(&[at_names, names, "listKind"]),
        singular: word(&[at_names, names, "singular"]),
        short_names: words("shortNames"),
        categories: words("categories"),
        namespaced: word(&["spec", "scope"]) == "Namespaced",
        has_status: at(version, &["subresources", "status"]).is_some(),
        has_generation: true,
        storage: Resource::new(&group, &plural),
        custom: Some(Custom {
            schema: schema_of(version).cloned(),
            compiled: Arc::default(),
            columns: columns_of(version),
            storage_version: storage_version(crd),
            scale: scale_of(version),
            selectable: selectable_of(version),
        }),
        group,
        plural,
        ..Kind::default()
    })
}

/// The version marked as storage version.
fn storage_version(crd: &Object) -> String {
    let stored = versions(crd).find(|v| v.get("storage") == Some(&Value::Bool(true)));
    let name = stored.and_then(|version| text(version, &["name"]));
    name.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
