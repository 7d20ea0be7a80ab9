//! The documents of paths that do not serve objects.

use serde_json::{Value, json};

/// Such paths, besides those of groups.
pub(super) const NAMES: [&str; 5] = [
    ".well-known/openid-configuration",
    "api",
    "apis",
    "openid/v1/jwks",
    "version",
];

/// Whether the path is described and not served: this server issues no tokens.
pub(super) fn is_only_described(path: &str) -> bool {
    path.contains("openid")
}

pub(super) fn document(name: &str) -> Value {
    let (path, what) = match name {
        "api" | "apis" => (format!("/{name}/"), "get available API versions".to_owned()),
        "version" => ("/version/".to_owned(), "get the code version".to_owned()),
        other => match other.strip_prefix("apis/") {
            Some(_) => (
                format!("/{other}/"),
                "get information of a group".to_owned(),
            ),
            None => (format!("/{other}/"), format!("get {other}")),
        },
    };
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {path: {"get": {
            "description": what,
            "responses": {"200": {"description": "OK"}, "401": {"description": "Unauthorized"}},
        }}},
    })
}
