//! Eviction of pods.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::write::{WriteRequest, decode_delete_options};
use super::{body, response};
use crate::object::{self, Object, text};
use crate::resources::Kind;
use crate::status::{self, ApiError};
use crate::writer::Cluster;

/// `POST` of an eviction: budgets are not enforced, so the pod is deleted.
pub(super) fn evict(
    cluster: &Cluster,
    pods: &Kind,
    (namespace, name): (&str, &str),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let given = read(request)?;
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
    let done = status::done(StatusCode::CREATED.as_u16());
    let encoding = request.form.encoding;
    Ok(response::value(StatusCode::CREATED, encoding, &done))
}

/// Decodes the body, whose kind is not a resource.
fn read(request: &WriteRequest<'_>) -> Result<Object, ApiError> {
    const UNRECOGNIZED: &str = "the object provided is unrecognized (must be of type Eviction)";
    let value = body::parse(body::media_type(request.headers), &request.body).map_err(|why| {
        ApiError::bad_request(format!(
            "{UNRECOGNIZED}: couldn't get version/kind; json parse error: {why}"
        ))
    })?;
    let Value::Object(given) = value else {
        return Err(ApiError::bad_request(UNRECOGNIZED));
    };
    let kind = text(&given, &["kind"]).unwrap_or("Eviction");
    let version = text(&given, &["apiVersion"]).unwrap_or("policy/v1");
    if (kind, version) != ("Eviction", "policy/v1") {
        return Err(ApiError::bad_request(format!(
            "{kind} in version \"{}\" cannot be handled as a Eviction: no kind \"{kind}\" is registered for version \"{version}\" in scheme",
            version.rsplit('/').next().unwrap_or_default(),
        )));
    }
    Ok(given)
}
