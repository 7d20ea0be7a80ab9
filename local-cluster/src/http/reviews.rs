//! Reviews of users, tokens and access.
//!
//! There is no authorisation: every client is `system:admin` of `system:masters`, and everything is
//! allowed, so that clients that check first go on.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use http::header::USER_AGENT;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::accept::{EndpointRestrictions, negotiate};
use super::containers::NOT_BOUND;
use super::path::ResourcePath;
use super::{body, response};
use crate::clock;
use crate::field_error::FieldError;
use crate::object::{Object, at, child, items, string, text};
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
    path: &ResourcePath,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, given) = request.into_parts();
    if parts.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    let agent = parts.headers.get(USER_AGENT).and_then(|v| v.to_str().ok());
    cluster.counters.add(
        agent.unwrap_or_default(),
        "create",
        kind.storage.to_string(),
        "",
    );
    let form = negotiate(&parts.headers, EndpointRestrictions::Objects)?;
    let given = body::read(given, parts.extensions.get()).await?;
    let review = body::decode(kind, &parts.headers, &given.bytes)?;
    check_types(kind, &review).map_err(|why| ApiError::cannot_handle(kind, &why))?;
    let review = add_status(kind, review, path.namespace.as_deref(), &clock::now())?;
    Ok(response::value(
        StatusCode::CREATED,
        form.encoding,
        &Value::Object(review),
    ))
}

/// The review with its status.
fn add_status(
    kind: &Kind,
    mut review: Object,
    namespace: Option<&str>,
    now: &str,
) -> Result<Object, ApiError> {
    let lacks = |field: &str| text(&review, &["spec", field]).is_none_or(str::is_empty);
    let status = match kind.kind.as_str() {
        "Binding" => return Err(ApiError::internal_because(NOT_BOUND)),
        "SelfSubjectReview" => {
            child(&mut review, "metadata").insert("creationTimestamp".to_owned(), now.into());
            json!({"userInfo": {
                "username": "system:admin", "groups": ["system:masters", "system:authenticated"],
            }})
        }
        "TokenReview" if lacks("token") => {
            let why = "token is required for TokenReview in authentication";
            return Err(ApiError::bad_request(why));
        }
        // This server issues no tokens.
        "TokenReview" => json!({"user": {}, "error": "invalid bearer token"}),
        "SelfSubjectRulesReview" if lacks("namespace") => {
            return Err(ApiError::bad_request("no namespace on request"));
        }
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": false,
        }),
        _ => match access_errors(kind, &review, namespace) {
            errors if errors.is_empty() => json!({"allowed": true}),
            errors => return Err(ApiError::invalid(&kind.group, &kind.kind, "", &errors)),
        },
    };
    child(&mut review, "metadata");
    review.insert("status".to_owned(), status);
    Ok(review)
}

/// Validates an access review.
fn access_errors(kind: &Kind, review: &Object, namespace: Option<&str>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let of = |field: &str| at(review, &["spec", field]).filter(|v| !v.is_null());
    let mut invalid = |field: &str, value: &Value, why: &str| {
        errors.push(FieldError::invalid(format!("spec.{field}"), value, why));
    };
    let resource = of("resourceAttributes");
    match (resource, of("nonResourceAttributes")) {
        (Some(_), Some(other)) => invalid(
            "nonResourceAttributes",
            other,
            "cannot be specified in combination with resourceAttributes",
        ),
        (None, None) => invalid(
            "resourceAttributes",
            &Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        _ => {}
    }
    let has_user = text(review, &["spec", "user"]).is_some_and(|user| !user.is_empty());
    let has_group = items(review, &["spec", "groups"]).next().is_some();
    if !kind.kind.starts_with("Self") && !has_user && !has_group {
        let why = "at least one of user or group must be specified";
        invalid("user", &json!(""), why);
    }
    let requested = resource.map(|resource| string(resource, "namespace"));
    if let (Some(namespace), Some(requested)) = (namespace, requested)
        && requested != namespace
    {
        let why = "must match metadata.namespace";
        invalid("resourceAttributes.namespace", &json!(requested), why);
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn review_status(kind: &str, review: Value, namespace: Option<&str>) -> Result<Value, String> {
        let registry = Registry::new();
        let kind = registry.reviews().iter().find(|k| k.kind == kind).unwrap();
        add_status(kind, object(review), namespace, "2026-01-01T00:00:00Z")
            .map(|review| review["status"].clone())
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn everything_is_allowed() {
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "a"});
        let own = json!({"spec": {"resourceAttributes": pods}});
        let allowed = Ok(json!({"allowed": true}));
        assert_eq!(review_status("SelfSubjectAccessReview", own, None), allowed);
        let other = json!({"spec": {"resourceAttributes": pods, "user": "u"}});
        assert_eq!(
            review_status("SubjectAccessReview", other.clone(), None),
            allowed
        );
        assert_eq!(
            review_status("LocalSubjectAccessReview", other, Some("a")),
            allowed
        );
        let path = json!({"spec": {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}}});
        assert_eq!(
            review_status("SelfSubjectAccessReview", path, None),
            allowed
        );
        let rules = review_status(
            "SelfSubjectRulesReview",
            json!({"spec": {"namespace": "a"}}),
            None,
        );
        assert_eq!(rules.unwrap()["resourceRules"][0]["verbs"], json!(["*"]));
        let me = review_status("SelfSubjectReview", json!({}), None).unwrap();
        assert_eq!(me["userInfo"]["username"], "system:admin");
        let token = review_status("TokenReview", json!({"spec": {"token": "t"}}), None).unwrap();
        assert_eq!(token.get("authenticated"), None);
    }

    #[test]
    fn incomplete_reviews_are_refused() {
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "a"});
        for (kind, review, namespace, expected) in [
            (
                "SelfSubjectAccessReview",
                json!({"spec": {}}),
                None,
                "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            ),
            (
                "SelfSubjectAccessReview",
                json!({"spec": {"resourceAttributes": {}, "nonResourceAttributes": {}}}),
                None,
                "cannot be specified in combination with resourceAttributes",
            ),
            (
                "SubjectAccessReview",
                json!({"spec": {"resourceAttributes": pods}}),
                None,
                "at least one of user or group must be specified",
            ),
            (
                "LocalSubjectAccessReview",
                json!({"spec": {"resourceAttributes": pods, "user": "u"}}),
                Some("b"),
                "must match metadata.namespace",
            ),
            (
                "SelfSubjectRulesReview",
                json!({"spec": {}}),
                None,
                "no namespace on request",
            ),
            (
                "TokenReview",
                json!({"spec": {}}),
                None,
                "token is required",
            ),
        ] {
            let refused = review_status(kind, review, namespace).unwrap_err();
            assert!(refused.contains(expected), "{kind}: {refused}");
        }
    }
}
