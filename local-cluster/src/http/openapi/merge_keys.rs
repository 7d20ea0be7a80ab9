//! The list types and merge keys of built-in types, from the rules that this crate merges by.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::object::Object;
use crate::patch::{ListRule, owned_rule, strategic_rule};

/// Adds the rules to all generated types; `tops` are the names of the kinds themselves.
pub(super) fn add(schemas: &mut Object, tops: &[String]) {
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
