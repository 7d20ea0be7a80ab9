//! Binding and eviction of pods.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::write::{WriteRequest, decode_delete_options};
use super::{body, response};
use crate::error_list::ErrorList as _;
use crate::object::{self, Object, at, text};
use crate::resources::Kind;
use crate::status::{self, ApiError};
use crate::writer::{Binding, Cluster};

/// `POST` of a binding, to the pod's subresource or to the namespace's `bindings`.
pub(super) fn bind(
    cluster: &Cluster,
    pods: &Kind,
    (namespace, name): (&str, Option<&str>),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let given = read(("v1", "Binding"), request)?;
    let own = object::name(&given);
    let name = name.unwrap_or(own);
    if name != own && !own.is_empty() {
        return Err(ApiError::bad_request(
            "name in URL does not match name in Binding object",
        ));
    }
    let (kind, node) = (
        text(&given, &["target", "kind"]).unwrap_or_default(),
        text(&given, &["target", "name"]).unwrap_or_default(),
    );
    let mut errors = Vec::new();
    if !matches!(kind, "" | "Node") {
        errors.not_supported("target.kind", kind, &["<empty>", "Node"]);
    }
    if node.is_empty() {
        errors.required("target.name", "");
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid("", "Binding", name, &errors));
    }
    let binding = Binding {
        node: node.to_owned(),
        uid: Some(object::uid(&given).to_owned()).filter(|uid| !uid.is_empty()),
        annotations: at(&given, &["metadata", "annotations"])
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default(),
    };
    let dry_run = request.options()?.dry_run;
    cluster.bind(pods, (namespace, name), &binding, dry_run)?;
    Ok(done(request))
}

/// `POST` of an eviction: budgets are not enforced, so the pod is deleted.
pub(super) fn evict(
    cluster: &Cluster,
    pods: &Kind,
    (namespace, name): (&str, &str),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let given = read(("policy/v1", "Eviction"), request)?;
    if object::name(&given) != name {
        return Err(ApiError::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let options = match given.get("deleteOptions") {
        Some(Value::Object(options)) => options.clone(),
        _ => Object::new(),
    };
    let mut options = decode_delete_options(&options, request)?;
    options.dry_run |= request.options()?.dry_run;
    cluster.delete(pods, namespace, name, &options)?;
    Ok(done(request))
}

fn done(request: &WriteRequest<'_>) -> Response {
    response::value(
        StatusCode::CREATED,
        request.form.encoding,
        &status::done(StatusCode::CREATED.as_u16()),
    )
}

/// Decodes a body whose kind is not a resource.
fn read((version, kind): (&str, &str), request: &WriteRequest<'_>) -> Result<Object, ApiError> {
    let value = body::parse(body::media_type(request.headers), &request.body).map_err(|why| {
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why}"
        ))
    })?;
    let Value::Object(given) = value else {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind})"
        )));
    };
    let (given_kind, given_version) = (
        text(&given, &["kind"]).unwrap_or(kind),
        text(&given, &["apiVersion"]).unwrap_or(version),
    );
    if (given_kind, given_version) != (kind, version) {
        return Err(ApiError::bad_request(format!(
            "{given_kind} in version \"{}\" cannot be handled as a {kind}: no kind \"{given_kind}\" is registered for version \"{given_version}\" in scheme",
            given_version.rsplit('/').next().unwrap_or_default(),
        )));
    }
    Ok(given)
}
