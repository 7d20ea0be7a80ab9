//! The document of one group version.

use std::sync::Arc;

use serde_json::{Value, json};

use super::operation::Operations;
use super::schemas;
use crate::object::Object;
use crate::resources::Kind;

/// The document of all kinds of the group version at `/NAME`.
pub(super) fn document(kinds: &[Arc<Kind>], name: &str) -> Value {
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
        "components": {"schemas": schemas::schemas(kinds)},
    })
}

fn add_paths(paths: &mut Object, kind: &Kind, name: &str) {
    let operations = Operations::of(kind);
    let plural = &kind.plural;
    let collection = if kind.namespaced {
        format!("/{name}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("/{name}/{plural}")
    };
    if kind.is_review() {
        paths.insert(collection, operations.review());
        return;
    }
    if kind.namespaced {
        let everywhere = format!("/{name}/{plural}");
        paths.insert(everywhere, operations.everywhere());
    }
    let one = format!("{collection}/{{name}}");
    if kind.has_status {
        paths.insert(format!("{one}/status"), operations.status());
    }
    paths.insert(collection, operations.collection());
    paths.insert(one, operations.one());
}
