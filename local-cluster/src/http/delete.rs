//! `delete`, `deletecollection` and evictions of pods.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::call::Call;
use super::query::check_options;
use super::{body, protobuf, read, response};
use crate::field_error::ErrorList as _;
use crate::object::{self, Object, items, text};
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Propagation};
use crate::status::{self, ApiError};
use crate::warnings::note;
use crate::writer::{Deleted, Written};

pub(super) async fn delete(call: &Call<'_>) -> Result<Response, ApiError> {
    let (options, address) = (delete_options(call)?, call.address());
    let deleted = call.cluster.delete_reviewed(call.kind, address, &options);
    let (deleted, warnings) = deleted.await?;
    let left = match deleted {
        Deleted::Gone(last) if call.kind.returns_deleted => Written::Unstored(last),
        Deleted::Gone(last) => {
            let status = status::deleted(call.kind, address.1, object::uid(&last));
            let response = response::value(StatusCode::OK, call.form.encoding, &status);
            return Ok(response::with_warnings(response, &warnings));
        }
        Deleted::Waiting(left) => left,
    };
    Ok(call.respond(StatusCode::OK, &left, &warnings))
}

/// Returns the objects that existed.
pub(super) async fn delete_collection(call: &Call<'_>) -> Result<Response, ApiError> {
    let (mut options, page) = (delete_options(call)?, read::page(call).await?);
    options.collection = true;
    let mut warnings = Vec::new();
    for stored in &page.items {
        let address = (stored.namespace.as_str(), stored.name.as_str());
        let deleted = call.cluster.delete_reviewed(call.kind, address, &options);
        match deleted.await {
            Ok((_, more)) => note(&mut warnings, more),
            Err(error) if error.code() != 404 => return Err(error.with_warnings(warnings)),
            Err(_) => {}
        }
    }
    Ok(response::with_warnings(
        read::render(call, &page),
        &warnings,
    ))
}

/// `POST` of an eviction: budgets are not enforced, so the pod is deleted.
pub(super) fn evict(call: &Call<'_>) -> Result<Response, ApiError> {
    let kind = Kind {
        group: "policy".to_owned(),
        version: "v1".to_owned(),
        kind: "Eviction".to_owned(),
        ..Kind::default()
    };
    let given = body::decode(&kind, &call.parts.headers, &call.body)?;
    let (namespace, name) = call.address();
    if object::name(&given) != name {
        return Err(ApiError::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let options = given.get("deleteOptions").cloned().unwrap_or_default();
    let mut options = decode_options(&object::object(options), call)?;
    options.dry_run |= call.options().dry_run;
    call.cluster.delete(call.kind, namespace, name, &options)?;
    let done = status::done(StatusCode::CREATED.as_u16());
    Ok(response::value(
        StatusCode::CREATED,
        call.form.encoding,
        &done,
    ))
}

/// The options of the body, or of the query if there is none.
fn delete_options(call: &Call<'_>) -> Result<DeleteOptions, ApiError> {
    let media_type = call.media_type();
    let options = if call.body.is_empty() {
        call.params.check("DeleteOptions", Vec::new())?;
        Object::new()
    } else if media_type == "application/vnd.kubernetes.protobuf" {
        protobuf::decode(&call.body, "v1", "DeleteOptions").ok_or_else(|| {
            ApiError::bad_request("the body of the request is no DeleteOptions in protobuf")
        })?
    } else {
        body::check_media_type(media_type)?;
        let unreadable = |why| format!("couldn't get version/kind; json parse error: {why}");
        body::parse(media_type, &call.body)
            .map_err(unreadable)
            .and_then(body::object_of)
            .map_err(ApiError::bad_request)?
    };
    decode_options(&options, call)
}

/// The options of `body`, which may be a part of the request's body, or of the query.
fn decode_options(body: &Object, call: &Call<'_>) -> Result<DeleteOptions, ApiError> {
    let kind = text(body, &["kind"]).unwrap_or("DeleteOptions");
    if kind != "DeleteOptions" {
        return Err(ApiError::bad_request(format!(
            "decoded object cannot be converted to DeleteOptions: it is a {kind}"
        )));
    }
    // A body replaces the query parameters.
    let query = call.body.is_empty().then_some(call.params);
    let orphans_in_query = || {
        let query = query.filter(|query| query.get("orphanDependents").is_some())?;
        Some(query.flag("orphanDependents"))
    };
    let propagation = text(body, &["propagationPolicy"]);
    let propagation = propagation.or_else(|| query?.get("propagationPolicy"));
    let orphans = body.get("orphanDependents").and_then(Value::as_bool);
    let propagation = propagation_of(propagation, orphans.or_else(orphans_in_query))?;
    let grace = match (body.get("gracePeriodSeconds"), query) {
        (None | Some(Value::Null), None) => None,
        (None | Some(Value::Null), Some(query)) => query.number::<i64>("gracePeriodSeconds")?,
        (Some(value), _) => Some(value.as_i64().ok_or_else(|| {
            ApiError::bad_request("gracePeriodSeconds must be a whole number of seconds")
        })?),
    };
    let precondition = |key: &str| text(body, &["preconditions", key]).map(str::to_owned);
    Ok(DeleteOptions {
        grace_seconds: grace,
        propagation,
        uid: precondition("uid"),
        resource_version: precondition("resourceVersion"),
        dry_run: match query {
            Some(query) => query.dry_run(),
            None => items(body, &["dryRun"]).any(|given| given == "All"),
        },
        collection: false,
    })
}

fn propagation_of(
    policy: Option<&str>,
    orphans: Option<bool>,
) -> Result<Option<Propagation>, ApiError> {
    let mut errors = Vec::new();
    let field = "propagationPolicy";
    if let (Some(policy), Some(_)) = (policy, orphans) {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        errors.invalid(field, policy, why);
    }
    let propagation = match (policy, orphans) {
        (None, None) => None,
        (None, Some(true)) | (Some("Orphan"), _) => Some(Propagation::Orphan),
        (None, Some(false)) | (Some("Background"), _) => Some(Propagation::Background),
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some(other), _) => {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            errors.not_supported(field, other, &known);
            None
        }
    };
    check_options("DeleteOptions", &errors)?;
    Ok(propagation)
}
