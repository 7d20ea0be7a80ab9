//! What is done with pods besides reading and writing them: they are bound and evicted.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::write::{Change, options_of_deletion};
use super::{answer, body};
use crate::field_error::FieldError;
use crate::object::{self, Object, at, text};
use crate::resources::Kind;
use crate::status::{self, ApiError};
use crate::writer::{Binding, Cluster};

/// `POST` of a binding, to the pod's own address or to that of all bindings of a namespace.
pub(super) fn bind(
    cluster: &Cluster,
    pods: &Kind,
    (namespace, name): (&str, Option<&str>),
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    let given = read(("v1", "Binding"), change)?;
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
        errors.push(FieldError::not_supported(
            "target.kind",
            &Value::from(kind),
            &["\"<empty>\"".to_owned(), "\"Node\"".to_owned()],
        ));
    }
    if node.is_empty() {
        errors.push(FieldError::required("target.name", ""));
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
    let dry_run = change.options()?.dry_run;
    cluster.bind(pods, (namespace, name), &binding, dry_run)?;
    Ok(done(change))
}

/// `POST` of an eviction: nothing forbids a pod's end here, so it is deleted.
pub(super) fn evict(
    cluster: &Cluster,
    pods: &Kind,
    (namespace, name): (&str, &str),
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    let given = read(("policy/v1", "Eviction"), change)?;
    if object::name(&given) != name {
        return Err(ApiError::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let options = match given.get("deleteOptions") {
        Some(Value::Object(options)) => options.clone(),
        _ => Object::new(),
    };
    let mut options = options_of_deletion(&options, change)?;
    options.dry_run |= change.options()?.dry_run;
    cluster.delete(pods, namespace, name, &options)?;
    Ok(done(change))
}

fn done(change: &Change<'_>) -> Response {
    answer::value(
        StatusCode::CREATED,
        change.form.encoding,
        &status::done(StatusCode::CREATED.as_u16()),
    )
}

/// Reads an object that is no resource of its own.
fn read((version, kind): (&str, &str), change: &Change<'_>) -> Result<Object, ApiError> {
    let value = body::parse(body::media_type(change.headers), &change.body).map_err(|why| {
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
