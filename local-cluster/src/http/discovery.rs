//! Discovery: groups, versions and resources.

mod resource;

use axum::response::Response;
use http::header::{CACHE_CONTROL, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use self::resource::ApiResource;
use super::accept::{ResponseFormat, Transform};
use super::response;
use crate::object::Object;
use crate::resources::Registry;

/// The groups of built-in kinds, by priority.
const GROUPS: [&str; 20] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// `/version`: the release that this crate follows. Clients read every field.
pub(super) fn version() -> Value {
    json!({
        "major": "1", "minor": "36",
        "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.2",
        // As a build from a source archive shows them.
        "gitCommit": "$Format:%H$", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "go1.26.6", "compiler": "gc", "platform": "linux/amd64",
    })
}

/// `/api`: the versions of the core group.
pub(super) fn core_versions(
    registry: &Registry,
    headers: &HeaderMap,
    form: ResponseFormat,
) -> Response {
    if form.transform == Transform::Aggregated {
        return aggregated(registry, headers, "/api", || vec![String::new()]);
    }
    let address = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]);
    let versions = json!({
        "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": address,
    });
    response::value(StatusCode::OK, form.encoding, &versions)
}

/// `/apis`: all groups but the core group.
pub(super) fn groups(registry: &Registry, headers: &HeaderMap, form: ResponseFormat) -> Response {
    if form.transform == Transform::Aggregated {
        return aggregated(registry, headers, "/apis", || group_names(registry));
    }
    let groups: Vec<Value> = group_names(registry)
        .iter()
        .map(|name| Value::Object(group_object(registry, name)))
        .collect();
    let list = json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups});
    response::value(StatusCode::OK, form.encoding, &list)
}

/// `/apis/GROUP`: the versions of a group.
pub(super) fn group(registry: &Registry, name: &str, form: ResponseFormat) -> Response {
    if !group_names(registry).iter().any(|n| n == name) {
        return response::page_not_found();
    }
    let mut group = group_object(registry, name);
    group.insert("kind".to_owned(), json!("APIGroup"));
    group.insert("apiVersion".to_owned(), json!("v1"));
    response::value(StatusCode::OK, form.encoding, &Value::Object(group))
}

/// `/api/v1` and `/apis/GROUP/VERSION`: the resources of a group version.
pub(super) fn group_version(
    registry: &Registry,
    group: &str,
    version: &str,
    form: ResponseFormat,
) -> Response {
    let entries = ApiResource::all(registry, group, version);
    if entries.is_empty() {
        return response::page_not_found();
    }
    let resources: Vec<Value> = entries.iter().flat_map(ApiResource::plain).collect();
    let mut list = json!({"kind": "APIResourceList", "resources": resources});
    if group.is_empty() {
        list["groupVersion"] = version.into();
    } else {
        // The core group's list predates `apiVersion`.
        list["apiVersion"] = "v1".into();
        list["groupVersion"] = format!("{group}/{version}").into();
    }
    response::value(StatusCode::OK, form.encoding, &list)
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

fn aggregated(
    registry: &Registry,
    headers: &HeaderMap,
    path: &str,
    names: impl FnOnce() -> Vec<String>,
) -> Response {
    let document = registry.documents.get(path, || {
        let groups = names()
            .iter()
            .map(|n| aggregated_group(registry, n))
            .collect::<Vec<Value>>();
        let list = json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {}, "items": groups,
        });
        list.to_string().into_bytes()
    });
    let content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let mut response = response::cached(headers, &document, content_type);
    let response_headers = response.headers_mut();
    response_headers.insert(VARY, HeaderValue::from_static("Accept"));
    response_headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    response
}

fn aggregated_group(registry: &Registry, name: &str) -> Value {
    let versions: Vec<Value> = versions_of(registry, name)
        .iter()
        .map(|version| {
            let entries = ApiResource::all(registry, name, version);
            let resources: Vec<Value> = entries.iter().map(ApiResource::aggregated).collect();
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

/// The names of all groups but the core group; groups of definitions come last, by name.
pub(super) fn group_names(registry: &Registry) -> Vec<String> {
    let kinds = registry.all();
    let kinds = kinds.iter().chain(registry.reviews());
    let mut names: Vec<String> = kinds.map(|k| k.group.clone()).collect();
    names.retain(|name| !name.is_empty());
    let place = |name: &str| GROUPS.iter().position(|g| *g == name);
    names.sort_by_cached_key(|name| (place(name).unwrap_or(GROUPS.len()), name.clone()));
    names.dedup();
    names
}

/// The versions of a group by priority: stable before beta before alpha, newest first.
pub(super) fn versions_of(registry: &Registry, group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for kind in registry.all().iter().chain(registry.reviews()) {
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
