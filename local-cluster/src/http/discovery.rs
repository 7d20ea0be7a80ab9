//! What there is to ask for: versions, groups, resources, short names.

use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::accept::{Form, Shape};
use super::answer;
use crate::object::Object;
use crate::resources::{Kind, Registry};

/// Custom resources list theirs in this order.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// `/version`: the Kubernetes version whose answers this crate follows.
pub(super) fn version() -> Value {
    json!({
        "major": "1", "minor": "36",
        "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.2",
        "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "", "compiler": "rustc", "platform": "linux/amd64",
    })
}

/// `/api`
pub(super) fn core_versions(registry: &Registry, form: Form) -> Response {
    if let Shape::Aggregated(version) = form.shape {
        let core = vec![aggregated_group(registry, "")];
        return aggregated(version, core);
    }
    let address = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]);
    let versions = json!({
        "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": address,
    });
    answer::value(StatusCode::OK, form.encoding, &versions)
}

/// `/apis`
pub(super) fn groups(registry: &Registry, form: Form) -> Response {
    let names = group_names(registry);
    if let Shape::Aggregated(version) = form.shape {
        let groups = names
            .iter()
            .map(|name| aggregated_group(registry, name))
            .collect();
        return aggregated(version, groups);
    }
    let groups: Vec<Value> = names
        .iter()
        .map(|name| Value::Object(group_object(registry, name)))
        .collect();
    let list = json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups});
    answer::value(StatusCode::OK, form.encoding, &list)
}

/// `/apis/GROUP`
pub(super) fn group(registry: &Registry, name: &str) -> Response {
    if !group_names(registry).iter().any(|n| n == name) {
        return answer::page_not_found();
    }
    let mut group = group_object(registry, name);
    group.insert("kind".to_owned(), json!("APIGroup"));
    group.insert("apiVersion".to_owned(), json!("v1"));
    answer::json(StatusCode::OK, &Value::Object(group))
}

/// `/api/v1` and `/apis/GROUP/VERSION`
pub(super) fn group_version(registry: &Registry, group: &str, version: &str) -> Response {
    let kinds = kinds_of(registry, group, version);
    let Some(first) = kinds.first() else {
        return answer::page_not_found();
    };
    let resources: Vec<Value> = kinds
        .iter()
        .flat_map(|kind| {
            let main = resource(kind);
            let status = kind.has_status.then(|| {
                json!({
                    "name": format!("{}/status", kind.plural), "singularName": "",
                    "namespaced": kind.namespaced, "kind": kind.kind,
                    "verbs": ["get", "patch", "update"],
                })
            });
            std::iter::once(main).chain(status)
        })
        .collect();
    let list = json!({
        "kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": first.api_version(), "resources": resources,
    });
    answer::json(StatusCode::OK, &list)
}

/// The names of all groups but the core group, in a fixed order.
pub(super) fn group_names(registry: &Registry) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for kind in registry.all() {
        if !kind.group.is_empty() && !names.contains(&kind.group) {
            names.push(kind.group.clone());
        }
    }
    names
}

/// The versions of a group, the newest and stablest first.
pub(super) fn versions_of(registry: &Registry, group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for kind in registry.all() {
        if kind.group == group && !versions.contains(&kind.version) {
            versions.push(kind.version.clone());
        }
    }
    versions.sort_by_key(|version| std::cmp::Reverse(rank(version)));
    versions
}

/// v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything else.
fn rank(version: &str) -> (u8, u64, u64) {
    let Some(rest) = version.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    if let Ok(major) = rest.parse() {
        (3, major, 0)
    } else if let Some((major, minor)) = rest.split_once("beta") {
        (2, number(major), number(minor))
    } else if let Some((major, minor)) = rest.split_once("alpha") {
        (1, number(major), number(minor))
    } else {
        (0, 0, 0)
    }
}

/// The kinds of a group in a version.
pub(super) fn kinds_of(registry: &Registry, group: &str, version: &str) -> Vec<Arc<Kind>> {
    registry
        .all()
        .into_iter()
        .filter(|k| k.group == group && k.version == version)
        .collect()
}

fn group_object(registry: &Registry, name: &str) -> Object {
    let versions: Vec<Value> = versions_of(registry, name)
        .iter()
        .map(|v| json!({"groupVersion": format!("{name}/{v}"), "version": v}))
        .collect();
    crate::object::object(json!({
        "name": name, "versions": versions, "preferredVersion": versions.first(),
    }))
}

fn verbs(kind: &Kind) -> Vec<&'static str> {
    let all = if kind.is_custom() {
        CUSTOM_VERBS
    } else {
        VERBS
    };
    all.into_iter()
        .filter(|verb| !(kind.is("", "namespaces") && *verb == "deletecollection"))
        .collect()
}

fn resource(kind: &Kind) -> Value {
    let mut resource = crate::object::object(json!({
        "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced,
        "kind": kind.kind, "verbs": verbs(kind),
    }));
    add_names(&mut resource, kind);
    Value::Object(resource)
}

fn add_names(resource: &mut Object, kind: &Kind) {
    for (key, list) in [
        ("shortNames", &kind.short_names),
        ("categories", &kind.categories),
    ] {
        if !list.is_empty() {
            resource.insert(key.to_owned(), Value::from(list.clone()));
        }
    }
}

fn aggregated(version: &str, groups: Vec<Value>) -> Response {
    let list = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": groups,
    });
    let content_type = match version {
        "v2" => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        _ => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
    };
    answer::bytes(StatusCode::OK, content_type, list.to_string())
}

fn aggregated_group(registry: &Registry, name: &str) -> Value {
    let versions: Vec<Value> = versions_of(registry, name)
        .iter()
        .map(|version| {
            let mut kinds = kinds_of(registry, name, version);
            kinds.sort_by(|a, b| a.plural.cmp(&b.plural));
            let resources: Vec<Value> = kinds.iter().map(|k| aggregated_resource(k)).collect();
            json!({"version": version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    let metadata = if name.is_empty() {
        json!({})
    } else {
        json!({"name": name})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(kind: &Kind) -> Value {
    let response_kind = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let mut resource = crate::object::object(json!({
        "resource": kind.plural, "responseKind": response_kind,
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular, "verbs": verbs(kind),
    }));
    add_names(&mut resource, kind);
    if kind.has_status {
        resource.insert(
            "subresources".to_owned(),
            json!([{
                "subresource": "status", "responseKind": response_kind,
                "verbs": ["get", "patch", "update"],
            }]),
        );
    }
    Value::Object(resource)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_first() {
        let mut versions = ["v1alpha1", "v1", "v1beta2", "odd", "v2", "v1beta10"];
        versions.sort_by_key(|v| std::cmp::Reverse(rank(v)));
        assert_eq!(
            versions,
            ["v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "odd"]
        );
    }
}
