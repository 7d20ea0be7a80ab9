//! Discovery: groups, versions and resources.

mod order;
mod resource;

use axum::response::Response;
use http::header::{CACHE_CONTROL, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use self::resource::ApiResource;
use super::accept::{ResponseFormat, Transform};
use super::{etag, response};
use crate::object::Object;
use crate::resources::Registry;

pub(super) use order::{group_names, versions_of};

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
    let mut response = etag::respond(headers, &document, content_type);
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
