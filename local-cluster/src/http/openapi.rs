//! As much of the OpenAPI documents as kubectl asks for.
//!
//! kubectl reads them for three things: whether the server checks unknown fields itself (then it
//! does not), the schema of custom resources for `explain`, and merge keys, for which it has its own
//! tables when the document names none.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::response::Response;
use http::header::ACCEPT;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::answer;
use super::discovery::{group_names, kinds_of, versions_of};
use crate::object::Object;
use crate::resources::{Kind, Registry};

/// `/openapi/v2`: an empty document, in the encoding that is asked for.
pub(super) fn v2(headers: &HeaderMap) -> Response {
    let protobuf = headers
        .get(ACCEPT)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|accept| accept.contains("protobuf"));
    if protobuf {
        // Field 1 of the document, `swagger`, is the string "2.0"; nothing else is there.
        let document: &'static [u8] = b"\x0a\x032.0";
        return answer::bytes(
            StatusCode::OK,
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
            document,
        );
    }
    let document = json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {}, "definitions": {},
    });
    answer::json(StatusCode::OK, &document)
}

/// `/openapi/v3`: which documents there are.
pub(super) fn v3(registry: &Registry) -> Response {
    let mut paths = Object::new();
    let mut groups = group_names(registry);
    groups.insert(0, String::new());
    for group in groups {
        for version in versions_of(registry, &group) {
            let path = document_path(&group, &version);
            let document = document(&kinds_of(registry, &group, &version), &path).to_string();
            let mut hasher = DefaultHasher::new();
            document.hash(&mut hasher);
            let url = format!("/openapi/v3/{path}?hash={:016X}", hasher.finish());
            paths.insert(path, json!({"serverRelativeURL": url}));
        }
    }
    answer::json(StatusCode::OK, &json!({"paths": paths}))
}

/// `/openapi/v3/…`: the document of one group version.
pub(super) fn v3_group(registry: &Registry, of: &str) -> Response {
    let words: Vec<&str> = of.split('/').collect();
    let kinds = match words.as_slice() {
        ["api", version] => kinds_of(registry, "", version),
        ["apis", group, version] => kinds_of(registry, group, version),
        _ => Vec::new(),
    };
    if kinds.is_empty() {
        return answer::page_not_found();
    }
    answer::json(StatusCode::OK, &document(&kinds, of))
}

fn document_path(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

fn document(kinds: &[impl AsRef<Kind>], path: &str) -> Value {
    let (mut paths, mut schemas) = (Object::new(), Object::new());
    for kind in kinds {
        let kind = kind.as_ref();
        let scope = if kind.namespaced {
            "namespaces/{namespace}/"
        } else {
            ""
        };
        let name = schema_name(kind);
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        let collection = format!("/{path}/{scope}{}", kind.plural);
        paths.insert(
            collection.clone(),
            json!({
                "get": operation(kind, "list", &reference),
                "post": operation(kind, "post", &reference),
            }),
        );
        paths.insert(
            format!("{collection}/{{name}}"),
            json!({
                "get": operation(kind, "get", &reference),
                "put": operation(kind, "put", &reference),
                "patch": operation(kind, "patch", &reference),
                "delete": operation(kind, "delete", &reference),
            }),
        );
        schemas.insert(name, schema(kind));
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn operation(kind: &Kind, action: &str, reference: &Value) -> Value {
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
    let writes = !matches!(action, "get" | "list");
    let mut operation = crate::object::object(json!({
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {
            "group": kind.group, "version": kind.version, "kind": kind.kind,
        },
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": reference}}}},
    }));
    if writes {
        let parameters: Vec<Value> = ["dryRun", "fieldManager", "fieldValidation"]
            .into_iter()
            .map(parameter)
            .collect();
        operation.insert("parameters".to_owned(), Value::from(parameters));
    }
    Value::Object(operation)
}

/// `io.example.v1.Kind` for `v1.Kind` of `example.io`, as documents name schemas.
fn schema_name(kind: &Kind) -> String {
    let mut words: Vec<&str> = match kind.group.as_str() {
        "" => vec!["io", "k8s", "api", "core"],
        group => group.split('.').rev().collect(),
    };
    words.push(&kind.version);
    words.push(&kind.kind);
    words.join(".")
}

fn schema(kind: &Kind) -> Value {
    let given = kind
        .custom
        .as_ref()
        .and_then(|custom| custom.schema.clone());
    let mut schema = match given {
        Some(Value::Object(schema)) => schema,
        _ => crate::object::object(json!({
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        })),
    };
    let properties = crate::object::child(&mut schema, "properties");
    for (key, value) in [
        ("apiVersion", json!({"type": "string"})),
        ("kind", json!({"type": "string"})),
        ("metadata", json!({"type": "object"})),
    ] {
        properties.insert(key.to_owned(), value);
    }
    schema.insert(
        "x-kubernetes-group-version-kind".to_owned(),
        json!([{"group": kind.group, "version": kind.version, "kind": kind.kind}]),
    );
    Value::Object(schema)
}
