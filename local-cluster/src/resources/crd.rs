//! CustomResourceDefinitions: what they must say, what is filled in, and the kinds they make.

use serde_json::{Value, json};

use super::{Custom, Kind, PrinterColumn, View};
use crate::field_error::FieldError;
use crate::object::{self, Object, at, child, text};
use crate::store::Resource;

/// Fills in the names and the parts of the status that follow from the rest.
pub(crate) fn crd_defaults(crd: &mut Object) {
    let kind = text(crd, &["spec", "names", "kind"])
        .unwrap_or_default()
        .to_owned();
    let stored: Vec<String> = versions(crd)
        .filter(|v| v.get("storage").and_then(Value::as_bool) == Some(true))
        .filter_map(|v| Some(v.get("name")?.as_str()?.to_owned()))
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
    status.insert("storedVersions".to_owned(), Value::from(stored));
}

/// What is wrong with a definition.
pub(crate) fn crd_errors(crd: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let word = |path: &[&str]| text(crd, path).unwrap_or_default();
    for path in [
        &["spec", "group"][..],
        &["spec", "names", "plural"],
        &["spec", "names", "kind"],
    ] {
        if word(path).is_empty() {
            errors.push(FieldError::required(path.join("."), ""));
        }
    }
    match word(&["spec", "scope"]) {
        "Namespaced" | "Cluster" => {}
        "" => errors.push(FieldError::required("spec.scope", "")),
        other => errors.push(FieldError::not_supported(
            "spec.scope",
            &Value::from(other),
            &["\"Cluster\"".to_owned(), "\"Namespaced\"".to_owned()],
        )),
    }
    let expected = format!(
        "{}.{}",
        word(&["spec", "names", "plural"]),
        word(&["spec", "group"])
    );
    if errors.is_empty() && object::name(crd) != expected {
        errors.push(FieldError::invalid(
            "metadata.name",
            &Value::from(object::name(crd)),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    let storage = versions(crd)
        .filter(|v| v.get("storage").and_then(Value::as_bool) == Some(true))
        .count();
    if storage != 1 {
        let given = at(crd, &["spec", "versions"]).cloned().unwrap_or_default();
        errors.push(FieldError::invalid(
            "spec.versions",
            &given,
            "must have exactly one version marked as storage version",
        ));
    }
    for (index, version) in versions(crd).enumerate() {
        if version
            .get("schema")
            .and_then(|s| s.get("openAPIV3Schema"))
            .is_none_or(|s| !s.is_object())
        {
            errors.push(FieldError::required(
                format!("spec.versions[{index}].schema.openAPIV3Schema"),
                "schemas are required",
            ));
        }
    }
    errors
}

/// The kinds that a valid definition makes: one for each served version.
pub(crate) fn kinds_of(crd: &Object) -> Vec<Kind> {
    versions(crd)
        .filter(|v| v.get("served").and_then(Value::as_bool) != Some(false))
        .filter_map(|version| kind_of(crd, version))
        .collect()
}

fn versions(crd: &Object) -> impl Iterator<Item = &Object> {
    at(crd, &["spec", "versions"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

fn kind_of(crd: &Object, version: &Object) -> Option<Kind> {
    let word = |path: &[&str]| text(crd, path).unwrap_or_default().to_owned();
    let words = |key: &str| -> Vec<String> {
        at(crd, &["spec", "names", key])
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|v| Some(v.as_str()?.to_owned()))
            .collect()
    };
    let (group, plural) = (word(&["spec", "group"]), word(&["spec", "names", "plural"]));
    Some(Kind {
        version: version.get("name")?.as_str()?.to_owned(),
        kind: word(&["spec", "names", "kind"]),
        list_kind: word(&["spec", "names", "listKind"]),
        singular: word(&["spec", "names", "singular"]),
        short_names: words("shortNames"),
        categories: words("categories"),
        namespaced: word(&["spec", "scope"]) == "Namespaced",
        has_status: at(version, &["subresources", "status"]).is_some(),
        has_generation: true,
        returns_deleted: false,
        unconditional_update: false,
        view: View::Plain,
        storage: Resource::new(&group, &plural),
        typed: None,
        schema: None,
        custom: Some(Custom {
            schema: at(version, &["schema", "openAPIV3Schema"]).cloned(),
            columns: columns(version),
            storage_version: storage_version(crd),
        }),
        group,
        plural,
    })
}

/// The version that objects are stored in, as far as clients are told.
fn storage_version(crd: &Object) -> String {
    let stored = versions(crd).find(|v| v.get("storage") == Some(&Value::Bool(true)));
    let name = stored.and_then(|version| text(version, &["name"]));
    name.unwrap_or_default().to_owned()
}

fn columns(version: &Object) -> Vec<PrinterColumn> {
    let given: Vec<PrinterColumn> = version
        .get("additionalPrinterColumns")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|column| {
            let word = |key: &str| text(column, &[key]).unwrap_or_default().to_owned();
            PrinterColumn {
                name: word("name"),
                type_name: word("type"),
                format: word("format"),
                description: word("description"),
                priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
                path: word("jsonPath"),
            }
        })
        .collect();
    if !given.is_empty() {
        return given;
    }
    // Without columns of its own, a kind shows its age.
    vec![PrinterColumn {
        name: "Age".to_owned(),
        type_name: "date".to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
        path: ".metadata.creationTimestamp".to_owned(),
    }]
}
