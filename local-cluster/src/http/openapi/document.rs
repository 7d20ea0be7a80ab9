//! The documents of group versions and of other paths.
//!
//! The operations are those that kubectl reads: `get` for the kind at a path; `patch` for its parameters and
//! media types.

use std::sync::Arc;

use serde_json::{Value, json};

use super::schemas::{reference, schema_name, schemas};
use crate::object::Object;
use crate::resources::Kind;

const WRITE_PARAMETERS: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "force"];

/// The document of all kinds of the group version at `/NAME`.
pub(super) fn of_kinds(kinds: &[Arc<Kind>], name: &str) -> Value {
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
pub(super) fn of_page(name: &str) -> Value {
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
    paths.insert(
        format!("{collection}/{{name}}"),
        json!({"get": get, "patch": patch}),
    );
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
