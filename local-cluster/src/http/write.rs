//! `create`, `update`, `patch`, `delete` and `deletecollection`.

use axum::response::Response;
use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::accept::ResponseFormat;
use super::list_options::ListOptions;
use super::query::{MAX_MANAGER, Params, check_options};
use super::read::{self, Selection};
use super::{body, patch_result, protobuf, response};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::patch::{Apply, Patch};
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Part, Propagation, WriteOptions, clean_metadata};
use crate::status::{self, ApiError};
use crate::warnings::note;
use crate::writer::{Cluster, Deleted, Written};

const BUILTIN_PATCHES: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml";
const CUSTOM_PATCHES: &str =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/// A write request without its path.
#[derive(Debug)]
pub(super) struct WriteRequest<'a> {
    pub(super) params: &'a Params,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: Bytes,
    pub(super) form: ResponseFormat,
}

impl WriteRequest<'_> {
    /// The options with the field manager, which defaults to the client's name.
    pub(super) fn options(&self) -> Result<WriteOptions<'_>, ApiError> {
        let options = self.params.write_options()?;
        let agent = || self.headers.get(USER_AGENT)?.to_str().ok();
        let manager = options
            .field_manager
            .or_else(|| Some(default_manager(agent().unwrap_or_default())));
        Ok(WriteOptions { manager, ..options })
    }

    fn respond(
        &self,
        code: StatusCode,
        kind: &Kind,
        written: &Written,
        warnings: &[String],
    ) -> Response {
        let response = response::object(code, self.form, kind, written);
        response::with_warnings(response, warnings)
    }
}

/// The product in a `User-Agent` such as `kubectl/v1.36 (linux)`.
fn default_manager(agent: &str) -> &str {
    let name = agent.split('/').next().unwrap_or_default();
    name.get(..MAX_MANAGER).unwrap_or(name)
}

pub(super) async fn create(
    cluster: &Cluster,
    kind: &Kind,
    namespace: &str,
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    request.params.check_manager("CreateOptions")?;
    let object = body::decode(kind, request.headers, &request.body)?;
    let options = request.options()?;
    let (written, warnings) = cluster.create(kind, namespace, object, &options).await?;
    Ok(request.respond(StatusCode::CREATED, kind, &written, &warnings))
}

pub(super) async fn update(
    cluster: &Cluster,
    kind: &Kind,
    address: (&str, &str),
    part: Part,
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    request.params.check_manager("UpdateOptions")?;
    let object = body::decode(kind, request.headers, &request.body)?;
    let options = request.options()?;
    let updated = cluster.update(kind, address, part, &options, |_| Ok(object.clone()));
    let (written, warnings) = updated.await?;
    Ok(request.respond(StatusCode::OK, kind, &written, &warnings))
}

pub(super) async fn patch(
    cluster: &Cluster,
    kind: &Kind,
    address: (&str, &str),
    part: Part,
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    if body::media_type(request.headers).starts_with("application/apply-patch") {
        return apply(cluster, kind, address, part, request).await;
    }
    request.params.check_manager("PatchOptions")?;
    let patch = decode_patch(kind, request)?;
    let options = request.options()?;
    let updated = cluster.update(kind, address, part, &options, |current| {
        let next = patch.apply(current)?;
        if let Patch::Strategic(fields) = &patch {
            patch_result::check(kind, fields, &next, options.validation)?;
        }
        body::check_type(kind, &next)?;
        Ok(next)
    });
    let (left, warnings) = match updated.await {
        Ok(updated) => updated,
        Err(error) => {
            let Some(unknown) = error.unknown() else {
                return Err(error);
            };
            let current = cluster.read(kind, address.0, address.1)?;
            let shown = patch.shown(kind.present(&current));
            return Err(ApiError::unknown_in_patch(&shown, unknown));
        }
    };
    Ok(request.respond(StatusCode::OK, kind, &left, &warnings))
}

async fn apply(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    part: Part,
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let apply = decode_apply(kind, name, part.subresource(), request)?;
    let options = request.options()?;
    let applied = cluster.apply(kind, (namespace, name), &apply, &options);
    let (left, warnings, created) = applied.await?;
    let code = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(request.respond(code, kind, &left, &warnings))
}

pub(super) fn decode_apply(
    kind: &Kind,
    name: &str,
    subresource: &str,
    request: &WriteRequest<'_>,
) -> Result<Apply, ApiError> {
    let Some(manager) = request.params.get("fieldManager") else {
        let error = FieldError::required("fieldManager", "is required for apply patch");
        return Err(ApiError::invalid(
            "meta.k8s.io",
            "PatchOptions",
            "",
            &[error],
        ));
    };
    request.params.check_manager("PatchOptions")?;
    let value = body::parse("application/yaml", &request.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding YAML: {why}")))?;
    let Value::Object(mut object) = value else {
        return Err(ApiError::bad_request(
            "error decoding YAML: an object is expected",
        ));
    };
    body::check_type(kind, &object)?;
    if object::at(&object, &["metadata", "managedFields"]).is_some_and(|v| !v.is_null()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    clean_metadata(kind, &mut object)?;
    match object::name(&object) {
        "" => {
            let meta = object::child(&mut object, "metadata");
            meta.insert("name".to_owned(), Value::from(name));
        }
        given if given != name => {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({given}) does not match the name on the URL ({name})"
            )));
        }
        _ => {}
    }
    Ok(Apply {
        manager: manager.to_owned(),
        force: request.params.flag("force"),
        subresource: subresource.to_owned(),
        desired: object,
    })
}

/// Decodes a patch that is no apply patch.
pub(super) fn decode_patch(kind: &Kind, request: &WriteRequest<'_>) -> Result<Patch, ApiError> {
    let media_type = body::media_type(request.headers);
    let accepted = if kind.is_custom() {
        CUSTOM_PATCHES
    } else {
        BUILTIN_PATCHES
    };
    let strategic = media_type == "application/strategic-merge-patch+json" && !kind.is_custom();
    let known = strategic
        || matches!(
            media_type,
            "application/json-patch+json" | "application/merge-patch+json"
        );
    if !known {
        return Err(ApiError::unsupported_media_type(accepted));
    }
    if request.params.get("force").is_some() {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        check_options("PatchOptions", &[error])?;
    }
    let value = body::parse(media_type, &request.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))?;
    match (media_type, value) {
        ("application/json-patch+json", value) => Patch::json(value),
        (_, Value::Object(fields)) if strategic => Ok(Patch::Strategic(fields)),
        (_, Value::Object(fields)) => Ok(Patch::Merge(fields)),
        (_, other) => Err(ApiError::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            if other.is_array() { "array" } else { "value" }
        ))),
    }
}

pub(super) async fn delete(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let options = delete_options(request)?;
    let deleted = cluster.delete_reviewed(kind, (namespace, name), &options, false);
    let (deleted, warnings) = deleted.await?;
    let response = match deleted {
        Deleted::Gone(last) if kind.returns_deleted => {
            let left = Written::Unstored(last);
            response::object(StatusCode::OK, request.form, kind, &left)
        }
        Deleted::Gone(last) => {
            let status = status::deleted(kind, name, object::uid(&last));
            response::value(StatusCode::OK, request.form.encoding, &status)
        }
        Deleted::Waiting(left) => response::object(StatusCode::OK, request.form, kind, &left),
    };
    Ok(response::with_warnings(response, &warnings))
}

/// Returns the objects that existed.
pub(super) async fn delete_collection(
    cluster: &Cluster,
    kind: &Kind,
    namespace: Option<&str>,
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let options = delete_options(request)?;
    let selection = Selection::of(kind, namespace, request.params)?;
    let list = ListOptions::of_list(request.params)?;
    let page = read::page(&cluster.store, kind, &selection, &list).await?;
    let mut warnings = Vec::new();
    for stored in &page.items {
        let address = (stored.namespace.as_str(), stored.name.as_str());
        match cluster.delete_reviewed(kind, address, &options, true).await {
            Ok((_, more)) => note(&mut warnings, more),
            Err(error) if error.code() != 404 => return Err(error.with_warnings(warnings)),
            Err(_) => {}
        }
    }
    let meta = json!({"continue": "", "resourceVersion": page.revision.to_string()});
    let response = read::render_items(kind, &page.items, meta, request.form);
    Ok(response::with_warnings(response, &warnings))
}

/// The options of the body, or of the query if there is none.
fn delete_options(request: &WriteRequest<'_>) -> Result<DeleteOptions, ApiError> {
    let body = if request.body.is_empty() {
        Object::new()
    } else if body::media_type(request.headers) == "application/vnd.kubernetes.protobuf" {
        protobuf::decode(&request.body).ok_or_else(|| {
            ApiError::bad_request("the body of the request is no DeleteOptions in protobuf")
        })?
    } else {
        let value =
            body::parse(body::media_type(request.headers), &request.body).map_err(|why| {
                ApiError::bad_request(format!(
                    "couldn't get version/kind; json parse error: {why}"
                ))
            })?;
        match value {
            Value::Object(map) => map,
            _ => {
                return Err(ApiError::bad_request(
                    "expected an object of kind DeleteOptions",
                ));
            }
        }
    };
    decode_delete_options(&body, request)
}

/// The options of `body`, which may be a part of the request's body, or of the query.
pub(super) fn decode_delete_options(
    body: &Object,
    request: &WriteRequest<'_>,
) -> Result<DeleteOptions, ApiError> {
    let kind = object::text(body, &["kind"]).unwrap_or("DeleteOptions");
    if kind != "DeleteOptions" {
        return Err(ApiError::bad_request(format!(
            "decoded object cannot be converted to DeleteOptions: it is a {kind}"
        )));
    }
    // A body replaces the query parameters.
    let query = request.body.is_empty().then_some(request.params);
    let orphans_in_query = || {
        let query = query.filter(|query| query.get("orphanDependents").is_some())?;
        Some(query.flag("orphanDependents"))
    };
    let propagation =
        object::text(body, &["propagationPolicy"]).or_else(|| query?.get("propagationPolicy"));
    let orphans = body
        .get("orphanDependents")
        .and_then(Value::as_bool)
        .or_else(orphans_in_query);
    let propagation = propagation_of(propagation, orphans)?;
    let grace = match body.get("gracePeriodSeconds") {
        None | Some(Value::Null) => match query {
            Some(query) => query.number::<i64>("gracePeriodSeconds")?,
            None => None,
        },
        Some(value) => Some(value.as_i64().ok_or_else(|| {
            ApiError::bad_request("gracePeriodSeconds must be a whole number of seconds")
        })?),
    };
    let precondition = |key: &str| object::text(body, &["preconditions", key]).map(str::to_owned);
    let dry_run_in_body = body
        .get("dryRun")
        .and_then(Value::as_array)
        .is_some_and(|list| list.iter().any(|v| v.as_str() == Some("All")));
    Ok(DeleteOptions {
        grace_seconds: grace,
        propagation,
        uid: precondition("uid"),
        resource_version: precondition("resourceVersion"),
        dry_run: match query {
            Some(query) => query.dry_run()?,
            None => dry_run_in_body,
        },
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
