//! Says in the documents how lists are merged, as the strategic merge of this crate does it.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::object::Object;
use crate::patch::{ListRule, list_rule};

/// Adds the rules to all generated types; `tops` are the kinds themselves.
pub(super) fn add(schemas: &mut Object, tops: &[String]) {
    let mut parents = parents(schemas);
    for top in tops {
        let at_the_top = parents.entry(top.clone()).or_default();
        at_the_top.insert(String::new());
    }
    let nowhere = BTreeSet::new();
    for (name, schema) in schemas.iter_mut() {
        // A definition says itself how its lists are merged.
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
                describe(property, rule(parents, field));
            }
        }
    }
}

/// How a list is merged, wherever the object is that it is in.
fn rule(parents: &BTreeSet<String>, field: &str) -> ListRule {
    parents
        .iter()
        .map(|parent| list_rule(parent, field))
        .find(|rule| *rule != ListRule::Atomic)
        .unwrap_or(ListRule::Atomic)
}

fn describe(property: &mut Object, rule: ListRule) {
    let (list_type, key) = match rule {
        ListRule::Atomic => ("atomic", None),
        ListRule::Set => ("set", None),
        ListRule::Keyed(key) => ("map", Some(key)),
    };
    property.insert("x-kubernetes-list-type".to_owned(), list_type.into());
    if let Some(key) = key {
        property.insert("x-kubernetes-list-map-keys".to_owned(), json!([key]));
        property.insert("x-kubernetes-patch-merge-key".to_owned(), key.into());
    }
    if rule != ListRule::Atomic {
        property.insert("x-kubernetes-patch-strategy".to_owned(), "merge".into());
    }
}

/// The fields under which each type is found.
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
