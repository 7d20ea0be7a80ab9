//! CustomResourceDefinitions: defaults, validation, and the kinds that they declare.

mod definition;
mod keywords;
mod naming;
mod rules;
mod schema;

use std::sync::{Arc, OnceLock};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionNames;
use serde_json::{Value, json};

pub(crate) use self::definition::{crd_errors, format_warnings};
pub(crate) use self::naming::{Names, accept_names, is_established};

use self::definition::{columns_of, scale_of, schema_of, selectable_of, versions};
use super::{Custom, Kind};
use crate::object::{Object, at, child, maps_in, text};
use crate::store::Resource;

/// Fills in names, conversion and the initial status.
pub(crate) fn crd_defaults(crd: &mut Object) {
    let kind = text(crd, &["spec", "names", "kind"])
        .unwrap_or_default()
        .to_owned();
    let stored = storage_version(crd);
    let spec = child(crd, "spec");
    spec.entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    for version in maps_in(spec.get_mut("versions")) {
        for flag in ["served", "storage"] {
            version.entry(flag).or_insert(Value::Bool(false));
        }
    }
    let names = child(spec, "names");
    let list_kind = match kind.as_str() {
        "" => String::new(),
        kind => format!("{kind}List"),
    };
    for (key, default) in [("singular", kind.to_lowercase()), ("listKind", list_kind)] {
        if text(names, &[key]).is_none_or(str::is_empty) {
            names.insert(key.to_owned(), Value::from(default));
        }
    }
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
    if let Some(kept) = kept.as_array_mut()
        && !stored.is_empty()
        && !kept.iter().any(|version| *version == stored)
    {
        kept.push(stored.into());
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
fn served_names(crd: &Object) -> Option<CustomResourceDefinitionNames> {
    let names = match text(crd, &["status", "acceptedNames", "plural"]) {
        Some(plural) if !plural.is_empty() => at(crd, &["status", "acceptedNames"]),
        _ => at(crd, &["spec", "names"]),
    };
    serde_json::from_value(names?.clone()).ok()
}

fn kind_of(crd: &Object, version: &Object) -> Option<Kind> {
    let names = served_names(crd)?;
    let group = text(crd, &["spec", "group"])?;
    Some(Kind {
        version: text(version, &["name"])?.to_owned(),
        kind: names.kind,
        list_kind: names.list_kind.unwrap_or_default(),
        singular: names.singular.unwrap_or_default(),
        short_names: names.short_names.unwrap_or_default(),
        categories: names.categories.unwrap_or_default(),
        namespaced: text(crd, &["spec", "scope"]) == Some("Namespaced"),
        has_status: at(version, &["subresources", "status"]).is_some(),
        has_generation: true,
        storage: Resource::new(group, &names.plural),
        custom: Some(Custom {
            schema: schema_of(version).cloned(),
            compiled: Arc::default(),
            columns: columns_of(version),
            storage_version: storage_version(crd),
            stored: stored_schema(crd)
                .filter(|_| version.get("storage") != Some(&Value::Bool(true)))
                .map(|schema| Arc::new((schema.clone(), OnceLock::new()))),
            scale: scale_of(version),
            selectable: selectable_of(version),
            deprecation: deprecation_of(crd, version),
        }),
        group: group.to_owned(),
        plural: names.plural,
        ..Kind::default()
    })
}

fn deprecation_of(crd: &Object, version: &Object) -> Option<String> {
    if version.get("deprecated") != Some(&Value::Bool(true)) {
        return None;
    }
    let word = |object, path: &[&str]| text(object, path).map(str::to_owned);
    word(version, &["deprecationWarning"]).or_else(|| {
        let (group, kind) = (
            word(crd, &["spec", "group"])?,
            word(crd, &["spec", "names", "kind"])?,
        );
        Some(format!(
            "{group}/{} {kind} is deprecated",
            word(version, &["name"])?
        ))
    })
}

/// The version marked as storage version.
fn stored_version(crd: &Object) -> Option<&Object> {
    versions(crd).find(|v| v.get("storage") == Some(&Value::Bool(true)))
}

fn stored_schema(crd: &Object) -> Option<&Value> {
    schema_of(stored_version(crd)?)
}

fn storage_version(crd: &Object) -> String {
    let name = stored_version(crd).and_then(|version| text(version, &["name"]));
    name.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
