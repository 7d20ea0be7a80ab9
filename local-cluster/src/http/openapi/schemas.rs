//! The types of a group version, and all types that they refer to.
//!
//! Those of built-in kinds come from the types that Kubernetes generates, descriptions included;
//! those of custom resources from their definitions.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use schemars::JsonSchema as _;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::object::{Object, child, object};
use crate::patch::{ListRule, owned_rule, strategic_rule};
use crate::resources::Kind;

pub(super) fn schemas(kinds: &[Arc<Kind>]) -> Object {
    let mut generator = SchemaSettings::openapi3().into_generator();
    for schema in kinds.iter().filter_map(|kind| kind.schema) {
        (schema.add)(&mut generator);
    }
    generator.subschema_for::<ObjectMeta>();
    generator.subschema_for::<ListMeta>();
    // Any generated kind has the fields that are common to all.
    let mut sample = SchemaSettings::openapi3().into_generator();
    sample.subschema_for::<ConfigMap>();
    let sample = match sample
        .take_definitions(true)
        .remove(&*ConfigMap::schema_name())
    {
        Some(Value::Object(schema)) => schema,
        _ => Object::new(),
    };

    let mut all = generator.take_definitions(true);
    for kind in kinds {
        let name = schema_name(kind);
        let schema = match all.remove(&name) {
            Some(Value::Object(schema)) => builtin(kind, schema),
            _ => custom(kind, &sample),
        };
        all.insert(name.clone(), Value::Object(schema));
        if !kind.is_review() {
            let list = list(kind, &name, &sample);
            all.insert(format!("{name}List"), Value::Object(list));
        }
    }
    as_kubernetes_writes(&mut all);
    for (name, schema) in &mut all {
        if let (true, Value::Object(schema)) = (name.starts_with("io.k8s."), schema) {
            required(schema);
            if ATOMIC.iter().any(|atomic| name.ends_with(atomic)) {
                schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
            }
        }
    }
    let tops: Vec<String> = kinds.iter().map(|kind| schema_name(kind)).collect();
    add_merge_keys(&mut all, &tops);
    all
}

/// Corrects what Kubernetes' own generator writes differently.
fn as_kubernetes_writes(all: &mut Object) {
    for (name, format, number) in [
        (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
            Some("int-or-string"),
            "integer",
        ),
        (
            "io.k8s.apimachinery.pkg.api.resource.Quantity",
            None,
            "number",
        ),
    ] {
        if let Some(Value::Object(schema)) = all.get_mut(name) {
            schema.remove("x-kubernetes-int-or-string");
            if let Some(format) = format {
                schema.insert("format".to_owned(), format.into());
            }
            let either = json!([{"type": "string"}, {"type": number}]);
            schema.insert("oneOf".to_owned(), either);
        }
    }
}

const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const META_LIST: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const GVK: &str = "x-kubernetes-group-version-kind";

/// Types with `x-kubernetes-map-type: atomic`.
const ATOMIC: [&str; 14] = [
    ".ConfigMapKeySelector",
    ".LabelSelector",
    ".LocalObjectReference",
    ".NodeSelector",
    ".NodeSelectorTerm",
    ".ObjectFieldSelector",
    ".ObjectReference",
    ".OwnerReference",
    ".ResourceFieldSelector",
    ".SecretKeySelector",
    ".SecretReference",
    ".TopologySelectorTerm",
    ".TypedLocalObjectReference",
    ".ScopeSelector",
];

/// Corrects the required fields and adds their defaults.
fn required(schema: &mut Object) {
    let Some(Value::Array(required)) = schema.get_mut("required") else {
        return;
    };
    // Generated types require metadata; the API does not.
    required.retain(|field| field != "metadata");
    let fields: Vec<String> = required
        .iter()
        .filter_map(|field| Some(field.as_str()?.to_owned()))
        .collect();
    if fields.is_empty() {
        schema.remove("required");
    }
    let properties = child(schema, "properties");
    for field in fields {
        let Some(Value::Object(property)) = properties.get_mut(&field) else {
            continue;
        };
        let zero = match property.get("type").and_then(Value::as_str) {
            Some("string") if !property.contains_key("format") => json!(""),
            Some("integer" | "number") => json!(0),
            Some("boolean") => json!(false),
            _ => continue,
        };
        property.insert("default".to_owned(), zero);
    }
    if let Some(Value::Object(metadata)) = properties.get_mut("metadata") {
        metadata.insert("default".to_owned(), json!({}));
    }
}

fn gvk(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn builtin(kind: &Kind, mut schema: Object) -> Object {
    let named = json!([gvk(&kind.group, &kind.version, &kind.kind)]);
    schema.insert(GVK.to_owned(), named);
    schema
}

fn custom(kind: &Kind, sample: &Object) -> Object {
    let given = kind
        .custom
        .as_ref()
        .and_then(|custom| custom.schema.clone());
    let mut schema = match given {
        Some(Value::Object(schema)) => schema,
        _ => object(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
    };
    let properties = child(&mut schema, "properties");
    for key in ["apiVersion", "kind", "metadata"] {
        properties.insert(key.to_owned(), property(sample, key));
    }
    let named = json!([gvk(&kind.group, &kind.version, &kind.kind)]);
    schema.insert(GVK.to_owned(), named);
    schema
}

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn property(sample: &Object, key: &str) -> Value {
    let found = sample.get("properties").and_then(|p| p.get(key));
    found.cloned().unwrap_or_default()
}

fn list(kind: &Kind, name: &str, sample: &Object) -> Object {
    let plural = &kind.plural;
    let items = if kind.is_custom() {
        format!("List of {plural}. More info: {CONVENTIONS}")
    } else {
        format!("items is the list of {plural}")
    };
    object(json!({
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": property(sample, "apiVersion"),
            "kind": property(sample, "kind"),
            "metadata": {
                "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"),
                "allOf": [reference(META_LIST)],
            },
            "items": {"description": items, "type": "array", "items": reference(name)},
        },
        GVK: [gvk(&kind.group, &kind.version, &kind.list_kind)],
    }))
}

/// The name of a kind's schema: `io.k8s.api.core.v1.Pod`, or `io.example.v1.Kind` for `v1` of
/// `example.io`.
pub(super) fn schema_name(kind: &Kind) -> String {
    if let Some(schema) = kind.schema {
        return (schema.name)().into_owned();
    }
    let mut words: Vec<&str> = kind.group.split('.').rev().collect();
    words.push(&kind.version);
    words.push(&kind.kind);
    words.join(".")
}

/// Adds the rules to all generated types; `tops` are the names of the kinds themselves.
pub(super) fn add_merge_keys(schemas: &mut Object, tops: &[String]) {
    let mut parents = parents(schemas);
    for top in tops {
        let at_the_top = parents.entry(top.clone()).or_default();
        at_the_top.insert(String::new());
    }
    let nowhere = BTreeSet::new();
    for (name, schema) in schemas.iter_mut() {
        // Definitions declare their own merge keys.
        if !name.starts_with("io.k8s.") || name.ends_with("List") {
            continue;
        }
        let parents = parents.get(name).unwrap_or(&nowhere);
        let Some(Value::Object(properties)) = schema.get_mut("properties") else {
            continue;
        };
        for (field, property) in properties.iter_mut() {
            let Value::Object(property) = property else {
                continue;
            };
            if property.get("type") == Some(&Value::from("array")) {
                describe(property, parents, field);
            }
        }
    }
}

/// The rule under the first parent that has one.
fn rule(of: fn(&str, &str) -> ListRule, parents: &BTreeSet<String>, field: &str) -> ListRule {
    parents
        .iter()
        .map(|parent| of(parent, field))
        .find(|rule| *rule != ListRule::Atomic)
        .unwrap_or(ListRule::Atomic)
}

/// The two rules differ: server-side apply identifies ports by port and protocol, a strategic merge
/// patch by port alone.
fn describe(property: &mut Object, parents: &BTreeSet<String>, field: &str) {
    let (list_type, keys) = match rule(owned_rule, parents, field) {
        ListRule::Atomic => ("atomic", None),
        ListRule::Set => ("set", None),
        ListRule::Keyed(keys) => ("map", Some(keys)),
    };
    property.insert("x-kubernetes-list-type".to_owned(), list_type.into());
    if let Some(keys) = keys {
        property.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
    }
    let strategic = rule(strategic_rule, parents, field);
    if let ListRule::Keyed([key, ..]) = strategic {
        property.insert("x-kubernetes-patch-merge-key".to_owned(), (*key).into());
    }
    if strategic != ListRule::Atomic {
        property.insert("x-kubernetes-patch-strategy".to_owned(), "merge".into());
    }
}

/// The names of the fields that refer to each type.
fn parents(schemas: &Object) -> HashMap<String, BTreeSet<String>> {
    let mut found: HashMap<String, BTreeSet<String>> = HashMap::new();
    for schema in schemas.values() {
        let Some(Value::Object(properties)) = schema.get("properties") else {
            continue;
        };
        for (field, property) in properties {
            let places = [
                "/$ref",
                "/allOf/0/$ref",
                "/items/$ref",
                "/additionalProperties/$ref",
            ];
            for reference in places.iter().filter_map(|p| property.pointer(p)) {
                let name = reference.as_str().and_then(|r| r.rsplit('/').next());
                let fields = found.entry(name.unwrap_or_default().to_owned());
                fields.or_default().insert(field.clone());
            }
        }
    }
    found
}
