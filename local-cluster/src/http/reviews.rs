//! Reviews of users, tokens and access.
//!
//! There is no authorisation: every client is `system:admin` of `system:masters`, and everything is
//! allowed, so that clients that check first go on.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::accept::{EndpointRestrictions, negotiate};
use super::call::agent;
use super::path::ResourcePath;
use super::subresource::NOT_BOUND;
use super::{body, response};
use crate::clock;
use crate::object::{Object, child};
use crate::resources::{Kind, Registry, check_types};
use crate::status::ApiError;
use crate::writer::Cluster;

/// The kind of review at a path.
pub(super) fn find(registry: &Registry, path: &ResourcePath) -> Option<Arc<Kind>> {
    let kind = registry.reviews().iter().find(|kind| {
        kind.group == path.group && kind.version == path.version && kind.plural == path.plural
    })?;
    let placed = kind.namespaced == path.namespace.is_some();
    (placed && path.name.is_none()).then(|| Arc::clone(kind))
}

pub(super) async fn respond(
    cluster: &Cluster,
    kind: &Kind,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, given) = request.into_parts();
    if parts.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    let (agent, resource) = (agent(&parts), kind.storage.to_string());
    cluster.counters.add(agent, "create", resource, "");
    let form = negotiate(&parts.headers, EndpointRestrictions::Objects)?;
    let given = body::read(given, parts.extensions.get()).await?;
    let review = body::decode(kind, &parts.headers, &given.bytes)?;
    check_types(kind, &review).map_err(|why| ApiError::cannot_handle(kind, &why))?;
    let review = Value::Object(add_status(kind, review, &clock::now())?);
    let created = StatusCode::CREATED;
    Ok(response::value(created, form.encoding, &review))
}

/// The review with its status.
fn add_status(kind: &Kind, mut review: Object, now: &str) -> Result<Object, ApiError> {
    let status = match kind.kind.as_str() {
        "Binding" => return Err(ApiError::internal_because(NOT_BOUND)),
        "SelfSubjectReview" => {
            child(&mut review, "metadata").insert("creationTimestamp".to_owned(), now.into());
            json!({"userInfo": {
                "username": "system:admin", "groups": ["system:masters", "system:authenticated"],
            }})
        }
        // This server issues no tokens.
        "TokenReview" => json!({"user": {}, "error": "invalid bearer token"}),
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": false,
        }),
        _ => json!({"allowed": true}),
    };
    child(&mut review, "metadata");
    review.insert("status".to_owned(), status);
    Ok(review)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn review_status(kind: &str, review: Value) -> Result<Value, String> {
        let registry = Registry::new();
        let kind = registry.reviews().iter().find(|k| k.kind == kind).unwrap();
        add_status(kind, object(review), "2026-01-01T00:00:00Z")
            .map(|review| review["status"].clone())
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn everything_is_allowed() {
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "a"});
        let own = json!({"spec": {"resourceAttributes": pods}});
        let allowed = Ok(json!({"allowed": true}));
        assert_eq!(review_status("SelfSubjectAccessReview", own), allowed);
        let other = json!({"spec": {"resourceAttributes": pods, "user": "u"}});
        assert_eq!(review_status("SubjectAccessReview", other.clone()), allowed);
        assert_eq!(review_status("LocalSubjectAccessReview", other), allowed);
        let path = json!({"spec": {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}}});
        assert_eq!(review_status("SelfSubjectAccessReview", path), allowed);
        let rules = review_status(
            "SelfSubjectRulesReview",
            json!({"spec": {"namespace": "a"}}),
        );
        assert_eq!(rules.unwrap()["resourceRules"][0]["verbs"], json!(["*"]));
        let me = review_status("SelfSubjectReview", json!({})).unwrap();
        assert_eq!(me["userInfo"]["username"], "system:admin");
        let token = review_status("TokenReview", json!({"spec": {"token": "t"}})).unwrap();
        assert_eq!(token.get("authenticated"), None);
    }
}
