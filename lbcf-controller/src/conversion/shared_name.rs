//! Names of load balancers that several namespaces share.
//!
//! Such a load balancer has a scope, lives in kube-system and has a name with the prefix. A
//! published sample has another name, which gets the prefix; the groups in the same input that
//! refer to it follow.

use super::editor::Editor;
use super::kind::is_ours;
use crate::api::names::{SYSTEM_NAMESPACE, SYSTEM_PREFIX};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The load balancers of all files.
#[derive(Debug, Default)]
pub(super) struct SharedNames {
    /// By name without the prefix: the namespaces that may use it.
    renamed: BTreeMap<String, Vec<String>>,
    /// The namespaces, if written, and names of all others.
    others: BTreeSet<(Option<String>, String)>,
}

impl SharedNames {
    pub(super) fn of<'a>(objects: impl Iterator<Item = &'a Value>) -> Self {
        let mut names = Self::default();
        for object in objects {
            let is_ours = text(object, "/apiVersion").is_some_and(is_ours);
            if !is_ours || text(object, "/kind") != Some("LoadBalancer") {
                continue;
            }
            let Some(name) = text(object, "/metadata/name") else {
                continue;
            };
            let namespace = text(object, "/metadata/namespace");
            let scope = scope(object);
            if needs_prefix(name, scope) && namespace == Some(SYSTEM_NAMESPACE) {
                let scope = scope.iter().filter_map(Value::as_str);
                let scope = scope.map(str::to_owned);
                names
                    .renamed
                    .entry(name.to_owned())
                    .or_default()
                    .extend(scope);
            } else {
                let namespace = namespace.map(str::to_owned);
                names.others.insert((namespace, name.to_owned()));
            }
        }
        names
    }

    /// The new name of the load balancer that a group refers to, if it has one. Without a namespace
    /// the group may be in any that the scope includes.
    pub(super) fn renamed(&self, namespace: Option<&str>, name: &str) -> Option<String> {
        let scope = self.renamed.get(name)?;
        let is_included = |allowed: &String| {
            allowed == "*" || namespace.is_none_or(|namespace| namespace == allowed)
        };
        let is_other = self
            .others
            .contains(&(namespace.map(str::to_owned), name.to_owned()));
        (scope.iter().any(is_included) && !is_other).then(|| format!("{SYSTEM_PREFIX}{name}"))
    }
}

/// Gives a shared load balancer the prefix.
pub(super) fn convert(object: &mut Value, names: &SharedNames, editor: &mut Editor) {
    let Some(name) = text(object, "/metadata/name").map(str::to_owned) else {
        return;
    };
    if !needs_prefix(&name, scope(object)) {
        return;
    }
    if text(object, "/metadata/namespace") != Some(SYSTEM_NAMESPACE) {
        let scope = object["spec"]["scope"].clone();
        let allowed = format!(
            "only a load balancer in kube-system can have a scope: write metadata.namespace: \
             {SYSTEM_NAMESPACE} and a driver of that namespace, or remove the scope"
        );
        editor.invalid("spec.scope", &scope, &allowed);
        return;
    }
    let new = format!("{SYSTEM_PREFIX}{name}");
    let system = Some(SYSTEM_NAMESPACE.to_owned());
    let field = "metadata.name";
    if names.others.contains(&(system, new.clone())) {
        let allowed = format!(
            "a load balancer with a scope needs a name that starts with {SYSTEM_PREFIX:?}, and \
             {new} is another one; rename it and the groups that use it"
        );
        editor.invalid(field, &json!(name), &allowed);
        return;
    }
    if let Some(name) = object.pointer_mut("/metadata/name") {
        editor.replace(field, name, json!(new));
    }
}

fn needs_prefix(name: &str, scope: &[Value]) -> bool {
    !scope.is_empty() && !name.starts_with(SYSTEM_PREFIX)
}

fn scope(object: &Value) -> &[Value] {
    let scope = object.pointer("/spec/scope").and_then(Value::as_array);
    scope.map_or(&[], Vec::as_slice)
}

fn text<'a>(object: &'a Value, pointer: &str) -> Option<&'a str> {
    object.pointer(pointer).and_then(Value::as_str)
}
