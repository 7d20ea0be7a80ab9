//! The OpenAPI documents.
//!
//! kubectl uses them for three things: whether the server validates unknown fields (so that kubectl
//! need not), `kubectl explain`, and the merge keys of lists. Documents of built-in kinds never
//! change and are built once in a process, on first use. Those of definitions are built again when
//! a definition changes.

mod schemas;

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::response::Response;
use http::header::{ACCEPT, CACHE_CONTROL, EXPIRES, LOCATION, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use self::schemas::{reference, schema_name, schemas};
use super::discovery::{group_names, versions_of};
use super::query::Params;
use super::response;
use crate::clock;
use crate::object::Object;
use crate::resources::{Document, Documents, Kind, Registry};

/// Paths that do not serve objects, besides those of groups.
const PAGES: [&str; 5] = [
    ".well-known/openid-configuration",
    "api",
    "apis",
    "openid/v1/jwks",
    "version",
];

/// The documents of built-in kinds, shared by all clusters of the process.
static BUILTIN: LazyLock<Documents> = LazyLock::new(Documents::default);

/// True if one of the accepted media types satisfies a predicate.
fn accepts(headers: &HeaderMap, found: impl Fn(&str) -> bool) -> bool {
    let mut ranges = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .map(str::trim);
    ranges.any(found)
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let is_json = |range: &str| matches!(range, "*/*" | "application/*" | "application/json");
    !headers.contains_key(ACCEPT) || accepts(headers, is_json)
}

fn not_acceptable() -> Response {
    response::bytes(StatusCode::NOT_ACCEPTABLE, "text/plain; charset=utf-8", "")
}

/// `/openapi/v2`: an empty document in the negotiated encoding. kubectl prefers version 3, and has
/// the merge keys of its own types.
pub(super) fn v2(headers: &HeaderMap) -> Response {
    let (document, content_type) = if accepts(headers, |range| range.ends_with("+protobuf")) {
        // Field 1 of the message, `swagger`, is the string "2.0".
        let document = BUILTIN.get("v2 protobuf", || b"\x0a\x032.0".to_vec());
        let content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
        (document, content_type)
    } else if accepts_json(headers) {
        let document = BUILTIN.get("v2", || {
            let document = json!({
                "swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.2"},
                "paths": {}, "definitions": {},
            });
            document.to_string().into_bytes()
        });
        (document, "application/json")
    } else {
        return not_acceptable();
    };
    let mut response = response::cached(headers, &document, content_type);
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// `/openapi/v3`: the index of documents.
pub(super) fn v3(registry: &Registry, headers: &HeaderMap) -> Response {
    let list = registry.documents.get("openapi/v3", || {
        let paths: Object = names(registry)
            .into_iter()
            .filter_map(|name| {
                let url = url(&name, &named(registry, &name)?.tag);
                Some((name, json!({"serverRelativeURL": url})))
            })
            .collect();
        json!({"paths": paths}).to_string().into_bytes()
    });
    // Kubernetes leaves the type to content sniffing, which takes JSON for text.
    response::cached(headers, &list, "text/plain; charset=utf-8")
}

/// `/openapi/v3/…`: the document of a group version or a path.
pub(super) fn v3_group(
    registry: &Registry,
    headers: &HeaderMap,
    name: &str,
    params: &Params,
) -> Response {
    let Some(document) = named(registry, name) else {
        return response::page_not_found();
    };
    if !accepts_json(headers) {
        return not_acceptable();
    }
    let hash = params.get("hash");
    if hash.is_some_and(|hash| hash != document.tag) {
        return moved(&url(name, &document.tag));
    }
    let mut response = response::cached(headers, &document, "application/json");
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if hash.is_some() {
        // A URL with a hash never changes its content.
        let forever = HeaderValue::from_static("public, immutable");
        headers.insert(CACHE_CONTROL, forever);
        if let Ok(expires) = HeaderValue::from_str(&clock::http_date_in_a_year()) {
            headers.insert(EXPIRES, expires);
        }
    }
    response
}

/// `/`: the index of paths.
pub(super) fn index(registry: &Registry) -> Response {
    let mut paths: Vec<String> = names(registry)
        .iter()
        .map(|name| format!("/{name}"))
        // Described and not served: this server issues no tokens.
        .filter(|path| !path.contains("openid"))
        .collect();
    let others = ["healthz", "livez", "openapi/v2", "openapi/v3", "readyz"];
    paths.extend(others.map(|path| format!("/{path}")));
    paths.sort();
    response::json(StatusCode::OK, &json!({"paths": paths}))
}

fn moved(url: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    if let Ok(url) = HeaderValue::from_str(url) {
        response.headers_mut().insert(LOCATION, url);
    }
    response
}

fn url(name: &str, tag: &str) -> String {
    format!("/openapi/v3/{name}?hash={tag}")
}

/// The names of all documents: the paths that they describe.
fn names(registry: &Registry) -> Vec<String> {
    let mut names: Vec<String> = PAGES.map(str::to_owned).into();
    names.push("api/v1".to_owned());
    for group in group_names(registry) {
        let versions = versions_of(registry, &group);
        if versions.iter().all(|v| !is_custom(registry, &group, v)) {
            names.push(format!("apis/{group}"));
        }
        names.extend(versions.iter().map(|v| format!("apis/{group}/{v}")));
    }
    names.sort();
    names
}

fn named(registry: &Registry, name: &str) -> Option<Arc<Document>> {
    let words: Vec<&str> = name.split('/').collect();
    let (group, version) = match words.as_slice() {
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ if names(registry).iter().any(|n| n == name) => {
            return Some(BUILTIN.get(name, || written(&of_page(name))));
        }
        _ => return None,
    };
    let kinds = kinds_of(registry, group, version);
    if kinds.is_empty() {
        return None;
    }
    let documents = if is_custom(registry, group, version) {
        &registry.documents
    } else {
        &BUILTIN
    };
    Some(documents.get(name, || written(&of_kinds(&kinds, name))))
}

fn written(document: &Value) -> Vec<u8> {
    document.to_string().into_bytes()
}

fn kinds_of(registry: &Registry, group: &str, version: &str) -> Vec<Arc<Kind>> {
    let kinds = registry.all();
    kinds
        .iter()
        .chain(registry.reviews())
        .filter(|k| k.group == group && k.version == version)
        .cloned()
        .collect()
}

fn is_custom(registry: &Registry, group: &str, version: &str) -> bool {
    kinds_of(registry, group, version)
        .iter()
        .any(|kind| kind.is_custom())
}

const WRITE_PARAMETERS: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "force"];

/// The document of all kinds of the group version at `/NAME`.
fn of_kinds(kinds: &[Arc<Kind>], name: &str) -> Value {
    let mut paths = Object::new();
    for kind in kinds {
        add_paths(&mut paths, kind, name);
    }
    let custom = kinds.iter().any(|kind| kind.is_custom());
    let info = if custom {
        json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"})
    } else {
        json!({"title": "Kubernetes", "version": "v1.36.2"})
    };
    json!({
        "openapi": "3.0.0", "info": info, "paths": paths,
        "components": {"schemas": schemas(kinds)},
    })
}

/// The document of a path that does not serve objects.
fn of_page(name: &str) -> Value {
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {format!("/{name}/"): {"get": {
            "description": format!("get {name}"), "responses": {"200": {"description": "OK"}},
        }}},
    })
}

fn add_paths(paths: &mut Object, kind: &Kind, name: &str) {
    let (plural, schema) = (&kind.plural, schema_name(kind));
    let collection = if kind.namespaced {
        format!("/{name}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("/{name}/{plural}")
    };
    if kind.is_review() {
        let create = operation(kind, "post", &schema, &WRITE_PARAMETERS[..3]);
        paths.insert(collection, json!({ "post": create }));
        return;
    }
    let list = operation(kind, "list", &format!("{schema}List"), &[]);
    if kind.namespaced {
        paths.insert(format!("/{name}/{plural}"), json!({ "get": list }));
    }
    let get = operation(kind, "get", &schema, &[]);
    let mut patch = operation(kind, "patch", &schema, &WRITE_PARAMETERS);
    patch["requestBody"] = json!({"content": patch_types(kind)});
    let one = format!("{collection}/{{name}}");
    paths.insert(one, json!({"get": get, "patch": patch}));
    paths.insert(collection, json!({ "get": list }));
}

/// The media types of patches, by which kubectl chooses one.
fn patch_types(kind: &Kind) -> Object {
    let strategic = (!kind.is_custom()).then_some("application/strategic-merge-patch+json");
    let types = [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    ];
    let types = types.into_iter().chain(strategic);
    types
        .map(|name| (name.to_owned(), json!({"schema": {"type": "object"}})))
        .collect()
}

fn operation(kind: &Kind, action: &str, schema: &str, parameters: &[&str]) -> Value {
    let content = json!({"schema": reference(schema)});
    let parameter = |name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
    json!({
        "description": format!("{action} objects of kind {}", kind.kind),
        "parameters": parameters.iter().map(parameter).collect::<Vec<Value>>(),
        "responses": {"200": {
            "description": "OK",
            "content": {"application/json": content, "application/yaml": content},
        }},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {
            "group": kind.group, "version": kind.version, "kind": kind.kind,
        },
    })
}
