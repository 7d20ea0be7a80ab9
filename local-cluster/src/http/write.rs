//! `create`, `update` and `patch`.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::body;
use super::call::Call;
use super::query::check_options;
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::patch::{Apply, Patch, go_format};
use crate::resources::{Kind, check_types, normalise};
use crate::rules::{FieldValidation, Part, clean_metadata};
use crate::status::ApiError;
use crate::writer::check_url_name;

const BUILTIN_PATCHES: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml";
const CUSTOM_PATCHES: &str =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

pub(super) async fn create(call: &Call<'_>) -> Result<Response, ApiError> {
    call.params.check("CreateOptions")?;
    let (object, (namespace, _)) = (call.object()?, call.address());
    let options = call.options();
    let created = call.cluster.create(call.kind, namespace, object, &options);
    let (written, warnings) = created.await?;
    Ok(call.respond(StatusCode::CREATED, &written, &warnings))
}

pub(super) async fn update(call: &Call<'_>, part: Part) -> Result<Response, ApiError> {
    call.params.check("UpdateOptions")?;
    let (object, options) = (call.object()?, call.options());
    let change = |_| Ok(object.clone());
    let (cluster, address) = (call.cluster, call.address());
    let updated = cluster.update(call.kind, address, part, &options, change);
    match updated.await {
        Err(error)
            if error.code() == 404 && part != Part::Scale && call.kind.is_created_by_update() =>
        {
            check_url_name(&object, address.1)?;
            let mut object = object.clone();
            if !options.dry_run {
                object::child(&mut object, "metadata").remove("resourceVersion");
            }
            let created = cluster.insert(call.kind, address.0, object, (part, None), &options);
            let (written, warnings) = created.await?;
            Ok(call.respond(StatusCode::CREATED, &written, &warnings))
        }
        updated => {
            let (written, warnings) = updated?;
            Ok(call.respond(StatusCode::OK, &written, &warnings))
        }
    }
}

pub(super) async fn patch(call: &Call<'_>, part: Part) -> Result<Response, ApiError> {
    if applies(call) {
        return apply(call, part).await;
    }
    call.params.check("PatchOptions")?;
    let (patch, options) = (decode_patch(call), call.options());
    if patch.as_ref().is_err_and(|error| error.code() == 400) {
        // A cluster decodes a patch once it has read the object.
        call.stored()?;
    }
    let patch = patch?;
    let change = |current| {
        let next = patch.apply(current)?;
        if let Patch::Strategic(fields) = &patch {
            check_result(call.kind, fields, &next, options.validation)?;
        }
        body::check_type(call.kind, &next)?;
        Ok(next)
    };
    let (cluster, address) = (call.cluster, call.address());
    let updated = cluster.update(call.kind, address, part, &options, change);
    let (left, warnings) = match updated.await {
        Ok(updated) => updated,
        Err(error) => {
            let Some(unknown) = error.unknown() else {
                return Err(error);
            };
            let shown = patch.shown(call.kind.present(&*call.stored()?));
            return Err(ApiError::unknown_in_patch(&shown, unknown));
        }
    };
    Ok(call.respond(StatusCode::OK, &left, &warnings))
}

/// Validates the result of a strategic merge patch. Errors show the patch, printed as Go prints a map.
pub(super) fn check_result(
    kind: &Kind,
    patch: &Object,
    left: &Object,
    validation: FieldValidation,
) -> Result<(), ApiError> {
    let invalid = |why: &str| {
        let printed = Value::from(go_format(&Value::Object(patch.clone())));
        ApiError::invalid("", "", "", &[FieldError::invalid("patch", &printed, why)])
    };
    check_types(kind, left).map_err(|why| invalid(&why))?;
    if validation != FieldValidation::Strict {
        return Ok(());
    }
    let unknown = normalise(kind, &mut left.clone()).into_iter();
    let unknown: Vec<String> = unknown
        .map(|field| format!("unknown field {field:?}"))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let why = format!("strict decoding error: {}", unknown.join(", "));
    Err(invalid(&why))
}

/// The patch is one of server-side apply.
pub(super) fn applies(call: &Call<'_>) -> bool {
    call.media_type().starts_with("application/apply-patch")
}

async fn apply(call: &Call<'_>, part: Part) -> Result<Response, ApiError> {
    let apply = decode_apply(call, call.kind, part.subresource())?;
    let (options, address) = (call.options(), call.address());
    let applied = call.cluster.apply(call.kind, address, &apply, &options);
    let (left, warnings, created) = applied.await?;
    let code = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(call.respond(code, &left, &warnings))
}

/// Decodes the configuration of an object of `kind`, which is that of the request or `Scale`.
pub(super) fn decode_apply(
    call: &Call<'_>,
    kind: &Kind,
    subresource: &str,
) -> Result<Apply, ApiError> {
    let manager = call.params.get("fieldManager").unwrap_or_default();
    if manager.is_empty() {
        let error = FieldError::required("fieldManager", "is required for apply patch");
        check_options("PatchOptions", &[error])?;
    }
    call.params.check("PatchOptions")?;
    let value = body::parse("application/yaml", &call.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding YAML: {why}")))?;
    let mut object = match value {
        Value::Object(object) => object,
        Value::Null => Object::new(),
        other => {
            let of = body::json_type(&other);
            return Err(ApiError::bad_request(format!(
                "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {of} into Go value of type map[string]interface {{}}"
            )));
        }
    };
    let [given, version] =
        ["kind", "apiVersion"].map(|key| object::text(&object, &[key]).unwrap_or_default());
    if (given, version) != (&kind.kind, &kind.api_version()) {
        let group = if version.contains('/') { "" } else { "/" };
        let why = format!("invalid object type: {group}{version}, Kind={given}");
        return Err(ApiError::bad_request(why));
    }
    if object::at(&object, &["metadata", "managedFields"]).is_some_and(|v| !v.is_null()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    // The types alone: empty fields of the configuration have an owner, too.
    clean_metadata(kind, &mut object.clone())?;
    let (_, name) = call.address();
    if object::name(&object).is_empty() {
        let meta = object::child(&mut object, "metadata");
        meta.insert("name".to_owned(), Value::from(name));
    }
    check_url_name(&object, name)?;
    Ok(Apply {
        manager: manager.to_owned(),
        force: call.params.flag("force"),
        subresource: subresource.to_owned(),
        desired: object,
    })
}

/// Decodes a patch that is no apply patch.
pub(super) fn decode_patch(call: &Call<'_>) -> Result<Patch, ApiError> {
    let (media_type, is_custom) = (call.media_type(), call.kind.is_custom());
    let strategic = media_type == "application/strategic-merge-patch+json" && !is_custom;
    let plain = [
        "application/json-patch+json",
        "application/merge-patch+json",
    ];
    if !strategic && !plain.contains(&media_type) {
        return Err(ApiError::unsupported_media_type(match is_custom {
            true => CUSTOM_PATCHES,
            false => BUILTIN_PATCHES,
        }));
    }
    if call.params.get("force").is_some() {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        check_options("PatchOptions", &[error])?;
    }
    let value = body::parse(media_type, &call.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))?;
    match (media_type, value) {
        ("application/json-patch+json", value) => Patch::json(value),
        (_, Value::Object(fields)) if strategic => Ok(Patch::Strategic(fields)),
        (_, Value::Object(fields)) => Ok(Patch::Merge(fields)),
        (_, other) => Err(ApiError::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            body::json_type(&other)
        ))),
    }
}
