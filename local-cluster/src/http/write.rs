//! `create`, `update` and `patch`.

use axum::response::Response;
use http::{Method, StatusCode};
use serde_json::Value;

use super::body;
use super::call::Call;
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::patch::{Apply, Patch, go_format};
use crate::resources::{Kind, check_types, normalise};
use crate::rules::{FieldValidation, Part, clean_metadata, decode};
use crate::status::ApiError;
use crate::writer::check_url_name;

const BUILTIN_PATCHES: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml";
const CUSTOM_PATCHES: &str =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

pub(super) async fn create(call: &Call<'_>) -> Result<Response, ApiError> {
    call.params.check("CreateOptions", Vec::new())?;
    let (object, (namespace, _)) = (call.object()?, call.address());
    let options = call.options();
    let created = call.cluster.create(call.kind, namespace, object, &options);
    let created = created.await;
    let (written, warnings) = created.map_err(|error| refused(call, call.object().ok(), error))?;
    Ok(call.respond(StatusCode::CREATED, &written, &warnings))
}

/// The error with the warnings about its object, or the error of decoding that, which comes first on a cluster.
fn refused(call: &Call<'_>, object: Option<Object>, error: ApiError) -> ApiError {
    let Some(mut object) = object else {
        return error;
    };
    let decoded = clean_metadata(call.kind, &mut object)
        .and_then(|()| decode(call.kind, &mut object, call.options().validation));
    match decoded {
        Ok(mut warnings) => {
            warnings.retain(|warning| !error.warnings().contains(warning));
            error.with_warnings(warnings)
        }
        // The result of a patch is refused in another way.
        Err(_) if call.parts.method == Method::PATCH => error,
        Err(earlier) => earlier,
    }
}

pub(super) async fn update(call: &Call<'_>, part: Part) -> Result<Response, ApiError> {
    call.params.check("UpdateOptions", Vec::new())?;
    let (object, options) = (call.object(), call.options());
    if object.as_ref().is_err_and(|error| error.code() == 422) {
        call.stored()?;
    }
    let object = object?;
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
            let (written, warnings) =
                updated.map_err(|error| refused(call, Some(object), error))?;
            Ok(call.respond(StatusCode::OK, &written, &warnings))
        }
    }
}

pub(super) async fn patch(call: &Call<'_>, part: Part) -> Result<Response, ApiError> {
    if applies(call) {
        return apply(call, part).await;
    }
    let (patch, options) = (decode_patch(call), call.options());
    if patch.as_ref().is_err_and(|error| error.code() == 400) {
        // A cluster decodes a patch once it has read the object.
        call.stored()?;
    }
    let patch = patch?;
    let change = |current: Object| {
        let next = patch.apply(current)?;
        if let Patch::Strategic(fields) = &patch {
            check_result(call.kind, fields, &next, options.validation)?;
        }
        check_words(call.kind, &next)?;
        body::check_type(call.kind, &next)?;
        Ok(next)
    };
    let (cluster, address) = (call.cluster, call.address());
    let updated = cluster.update(call.kind, address, part, &options, change);
    let (left, warnings) = match updated.await {
        Ok(updated) => updated,
        Err(error) => {
            let live = call.kind.present(&*call.stored()?);
            let Some(why) = error.undecodable() else {
                return Err(refused(call, patch.apply(live).ok(), error));
            };
            return Err(ApiError::undecodable_result(&patch.shown(live), why));
        }
    };
    Ok(call.respond(StatusCode::OK, &left, &warnings))
}

/// Decodes kind and version of a patched object.
fn check_words(kind: &Kind, patched: &Object) -> Result<(), ApiError> {
    for (key, value) in ["kind", "apiVersion"].map(|key| (key, patched.get(key))) {
        let is_odd = |value: &&Value| !value.is_string() && !value.is_null();
        if let Some(odd) = value.filter(is_odd) {
            let of = object::json_type(odd);
            let why = format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {of} into Go struct field .{key} of type string"
            );
            return Err(ApiError::cannot_handle(kind, &why));
        }
    }
    let is_missing =
        |key| kind.is_custom() && object::text(patched, &[key]).is_none_or(str::is_empty);
    if is_missing("kind") {
        let shown = Value::Object(patched.clone());
        let why = format!("Object 'Kind' is missing in '{shown}'");
        return Err(ApiError::cannot_handle(kind, &why));
    }
    if is_missing("apiVersion") {
        let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
        return Err(ApiError::internal_because(why));
    }
    Ok(())
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
    let apply = decode_apply(call, call.kind, part.subresource());
    if part != Part::Main && apply.as_ref().is_err_and(|error| error.code() == 400) {
        call.stored()?;
    }
    let apply = apply?;
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
    let missing = FieldError::required("fieldManager", "is required for apply patch");
    let errors = manager.is_empty().then_some(missing).into_iter().collect();
    call.params.check("PatchOptions", errors)?;
    let value = body::parse("application/yaml", &call.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding YAML: {why}")))?;
    let mut object = match value {
        Value::Object(object) => object,
        Value::Null => Object::new(),
        other => {
            let of = object::json_type(&other);
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
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("creationTimestamp");
    }
    if object::at(&object, &["metadata", "managedFields"]).is_some_and(Value::is_array) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
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
    let force = FieldError::forbidden("force", "may not be specified for non-apply patch");
    let forced = call.params.get("force").map(|_| force);
    let errors = forced.into_iter().collect();
    call.params.check("PatchOptions", errors)?;
    let value = body::parse(media_type, &call.body).map_err(|why| match strategic {
        true => ApiError::bad_request(why),
        false => ApiError::bad_request(format!("error decoding patch: {why}")),
    })?;
    match (media_type, value) {
        ("application/json-patch+json", value) => Patch::json(value),
        (_, Value::Object(fields)) if strategic => Ok(Patch::Strategic(fields)),
        (_, Value::Object(fields)) => Ok(Patch::Merge(fields)),
        (_, Value::Null) => Err(ApiError::bad_request("Invalid JSON Patch")),
        (_, other) => {
            let wanted = "map[string]interface {}";
            Err(ApiError::undecodable_patch(&other, wanted))
        }
    }
}
