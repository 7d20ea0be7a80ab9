//! Questions to the server about users and what they may do.
//!
//! There is no authentication and no authorisation here: whoever asks is `system:admin` of
//! `system:masters`, and everybody may do everything. Clients that ask first go on then.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use http::header::USER_AGENT;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::accept::{Endpoint, negotiate};
use super::path::ResourcePath;
use super::{answer as answers, body};
use crate::clock;
use crate::field_error::FieldError;
use crate::object::{Object, at, child, text};
use crate::resources::{Kind, Registry, check_types};
use crate::status::ApiError;
use crate::writer::Cluster;

/// The kind of review at an address.
pub(super) fn find(registry: &Registry, path: &ResourcePath) -> Option<Arc<Kind>> {
    let kind = registry.reviews().iter().find(|kind| {
        kind.group == path.group && kind.version == path.version && kind.plural == path.plural
    })?;
    let placed = kind.namespaced == path.namespace.is_some();
    (placed && path.name.is_none()).then(|| Arc::clone(kind))
}

/// Answers a review.
pub(super) async fn answer(
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
    let form = negotiate(&parts.headers, Endpoint::Objects)?;
    let given = body::read(given, parts.extensions.get()).await?;
    let (review, _) = body::decode(kind, &parts.headers, &given.bytes)?;
    check_types(kind, &review).map_err(|why| ApiError::cannot_handle(kind, &why))?;
    let review = decide(kind, review, path.namespace.as_deref(), &clock::now())?;
    Ok(answers::value(
        StatusCode::CREATED,
        form.encoding,
        &Value::Object(review),
    ))
}

/// The review with its answer.
fn decide(
    kind: &Kind,
    mut review: Object,
    namespace: Option<&str>,
    now: &str,
) -> Result<Object, ApiError> {
    let status = match kind.kind.as_str() {
        "SelfSubjectReview" => {
            child(&mut review, "metadata").insert("creationTimestamp".to_owned(), now.into());
            json!({"userInfo": {
                "username": "system:admin", "groups": ["system:masters", "system:authenticated"],
            }})
        }
        "TokenReview" if text(&review, &["spec", "token"]).is_none_or(str::is_empty) => {
            return Err(ApiError::bad_request(
                "token is required for TokenReview in authentication",
            ));
        }
        // No token was given out here.
        "TokenReview" => json!({"user": {}, "error": "invalid bearer token"}),
        "SelfSubjectRulesReview"
            if text(&review, &["spec", "namespace"]).is_none_or(str::is_empty) =>
        {
            return Err(ApiError::bad_request("no namespace on request"));
        }
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": false,
        }),
        _ => {
            let errors = access_errors(kind, &review, namespace);
            if !errors.is_empty() {
                return Err(ApiError::invalid(&kind.group, &kind.kind, "", &errors));
            }
            json!({"allowed": true})
        }
    };
    child(&mut review, "metadata");
    review.insert("status".to_owned(), status);
    Ok(review)
}

/// What is wrong with a question about access.
fn access_errors(kind: &Kind, review: &Object, namespace: Option<&str>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let of = |field: &str| at(review, &["spec", field]).filter(|v| !v.is_null());
    let (resource, other) = (of("resourceAttributes"), of("nonResourceAttributes"));
    match (resource, other) {
        (Some(_), Some(other)) => errors.push(FieldError::invalid(
            "spec.nonResourceAttributes",
            other,
            "cannot be specified in combination with resourceAttributes",
        )),
        (None, None) => errors.push(FieldError::invalid(
            "spec.resourceAttributes",
            &Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => {}
    }
    let nobody = || {
        let user = text(review, &["spec", "user"]).unwrap_or_default();
        let groups = of("groups").and_then(Value::as_array);
        user.is_empty() && groups.is_none_or(Vec::is_empty)
    };
    if !kind.kind.starts_with("Self") && nobody() {
        errors.push(FieldError::invalid(
            "spec.user",
            &Value::from(""),
            "at least one of user or group must be specified",
        ));
    }
    let asked = text(review, &["spec", "resourceAttributes", "namespace"]).unwrap_or_default();
    if let Some(namespace) = namespace
        && resource.is_some()
        && asked != namespace
    {
        errors.push(FieldError::invalid(
            "spec.resourceAttributes.namespace",
            &Value::from(asked),
            "must match metadata.namespace",
        ));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn decided(kind: &str, review: Value, namespace: Option<&str>) -> Result<Value, String> {
        let registry = Registry::new();
        let kind = registry.reviews().iter().find(|k| k.kind == kind).unwrap();
        decide(kind, object(review), namespace, "2026-01-01T00:00:00Z")
            .map(|review| review["status"].clone())
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn everybody_may_do_everything() {
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "a"});
        let own = json!({"spec": {"resourceAttributes": pods}});
        let allowed = Ok(json!({"allowed": true}));
        assert_eq!(decided("SelfSubjectAccessReview", own, None), allowed);
        let other = json!({"spec": {"resourceAttributes": pods, "user": "u"}});
        assert_eq!(decided("SubjectAccessReview", other.clone(), None), allowed);
        assert_eq!(
            decided("LocalSubjectAccessReview", other, Some("a")),
            allowed
        );
        let path = json!({"spec": {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}}});
        assert_eq!(decided("SelfSubjectAccessReview", path, None), allowed);
        let rules = decided(
            "SelfSubjectRulesReview",
            json!({"spec": {"namespace": "a"}}),
            None,
        );
        assert_eq!(rules.unwrap()["resourceRules"][0]["verbs"], json!(["*"]));
        let me = decided("SelfSubjectReview", json!({}), None).unwrap();
        assert_eq!(me["userInfo"]["username"], "system:admin");
        let token = decided("TokenReview", json!({"spec": {"token": "t"}}), None).unwrap();
        assert_eq!(token.get("authenticated"), None);
    }

    #[test]
    fn questions_must_be_complete() {
        let pods = json!({"verb": "get", "resource": "pods", "namespace": "a"});
        for (kind, review, namespace, wanted) in [
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
            let refused = decided(kind, review, namespace).unwrap_err();
            assert!(refused.contains(wanted), "{kind}: {refused}");
        }
    }
}
