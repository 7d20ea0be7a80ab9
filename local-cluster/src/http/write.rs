//! Requests that change something.

use axum::response::Response;
use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::accept::Form;
use super::list_options::ListOptions;
use super::query::{MAX_MANAGER, Params};
use super::read::{self, Selection};
use super::{answer, body, patched, protobuf};
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::patch::{Apply, Patch};
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Part, Propagation, WriteOptions, clean_metadata};
use crate::status::{self, ApiError};
use crate::warnings::note;
use crate::writer::{Cluster, Deleted};

const BUILTIN_PATCHES: &str = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml";
const CUSTOM_PATCHES: &str =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/// A request that changes something: everything but what it is about.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) params: &'a Params,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: Bytes,
    pub(super) form: Form,
}

impl Change<'_> {
    /// The options of the write, with the name of who writes.
    pub(super) fn options(&self) -> Result<WriteOptions<'_>, ApiError> {
        let options = self.params.write_options()?;
        let agent = || self.headers.get(USER_AGENT)?.to_str().ok();
        let manager = options
            .field_manager
            .or_else(|| Some(manager_of(agent().unwrap_or_default())));
        Ok(WriteOptions { manager, ..options })
    }
}

/// Who does not say as whom it writes is known by the program it is: `kubectl/v1.36 (linux)`.
fn manager_of(agent: &str) -> &str {
    let name = agent.split('/').next().unwrap_or_default();
    name.get(..MAX_MANAGER).unwrap_or(name)
}

/// `POST`
pub(super) async fn create(
    cluster: &Cluster,
    kind: &Kind,
    namespace: &str,
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    change.params.check_manager("CreateOptions")?;
    let (object, repeated) = body::decode(kind, change.headers, &change.body)?;
    let options = change.options()?;
    let mut warnings = body::judge_duplicates(kind, &repeated, options.validation)?;
    let (left, more) = cluster.create(kind, namespace, object, &options).await?;
    note(&mut warnings, more);
    let response = answer::object(StatusCode::CREATED, change.form, kind, &left);
    Ok(answer::with_warnings(response, &warnings))
}

/// `PUT`
pub(super) async fn update(
    cluster: &Cluster,
    kind: &Kind,
    address: (&str, &str),
    part: Part,
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    change.params.check_manager("UpdateOptions")?;
    let (object, repeated) = body::decode(kind, change.headers, &change.body)?;
    let options = change.options()?;
    let mut warnings = body::judge_duplicates(kind, &repeated, options.validation)?;
    let updated = cluster.update(kind, address, part, &options, |_| Ok(object.clone()));
    let (left, more) = updated.await?;
    note(&mut warnings, more);
    let response = answer::object(StatusCode::OK, change.form, kind, &left);
    Ok(answer::with_warnings(response, &warnings))
}

/// `PATCH`
pub(super) async fn patch(
    cluster: &Cluster,
    kind: &Kind,
    address: (&str, &str),
    part: Part,
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    if body::media_type(change.headers).starts_with("application/apply-patch") {
        return apply(cluster, kind, address, part, change).await;
    }
    change.params.check_manager("PatchOptions")?;
    let (patch, repeated) = decode_patch(kind, change)?;
    let options = change.options()?;
    let mut warnings = body::judge_duplicates(kind, &repeated, options.validation)?;
    let updated = cluster.update(kind, address, part, &options, |current| {
        let next = patch.apply(current)?;
        if let Patch::Strategic(fields) = &patch {
            patched::check(kind, fields, &next, options.validation)?;
        }
        body::check_type(kind, &next)?;
        Ok(next)
    });
    let (left, more) = match updated.await {
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
    note(&mut warnings, more);
    let response = answer::object(StatusCode::OK, change.form, kind, &left);
    Ok(answer::with_warnings(response, &warnings))
}

/// `PATCH` that applies: what is sent is what its manager wants of the object.
async fn apply(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    part: Part,
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    let (wanted, repeated) = wanted(kind, name, change)?;
    let request = Apply {
        subresource: part.subresource().to_owned(),
        ..wanted
    };
    let options = change.options()?;
    let mut warnings = body::judge_duplicates(kind, &repeated, options.validation)?;
    let applied = cluster.apply(kind, (namespace, name), &request, &options);
    let (left, more, created) = applied.await?;
    note(&mut warnings, more);
    let code = if created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let response = answer::object(code, change.form, kind, &left);
    Ok(answer::with_warnings(response, &warnings))
}

/// What the request wants of the object as a whole, and as whom; and the fields that it names more
/// than once.
pub(super) fn wanted(
    kind: &Kind,
    name: &str,
    change: &Change<'_>,
) -> Result<(Apply, Vec<String>), ApiError> {
    let Some(manager) = change.params.get("fieldManager") else {
        let error = FieldError::required("fieldManager", "is required for apply patch");
        return Err(ApiError::invalid(
            "meta.k8s.io",
            "PatchOptions",
            "",
            &[error],
        ));
    };
    change.params.check_manager("PatchOptions")?;
    let (value, repeated) = body::parse_strictly("application/yaml", &change.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding YAML: {why}")))?;
    let Value::Object(mut wanted) = value else {
        return Err(ApiError::bad_request(
            "error decoding YAML: an object is expected",
        ));
    };
    body::check_type(kind, &wanted)?;
    if object::at(&wanted, &["metadata", "managedFields"]).is_some_and(|v| !v.is_null()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    clean_metadata(kind, &mut wanted)?;
    match object::name(&wanted) {
        "" => {
            let meta = object::child(&mut wanted, "metadata");
            meta.insert("name".to_owned(), Value::from(name));
        }
        given if given != name => {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({given}) does not match the name on the URL ({name})"
            )));
        }
        _ => {}
    }
    let apply = Apply {
        manager: manager.to_owned(),
        force: change.params.flag("force"),
        subresource: String::new(),
        wanted,
    };
    Ok((apply, repeated))
}

/// Reads a patch that is no apply, and names the fields that it has more than once.
pub(super) fn decode_patch(
    kind: &Kind,
    change: &Change<'_>,
) -> Result<(Patch, Vec<String>), ApiError> {
    let media_type = body::media_type(change.headers);
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
    if change.params.get("force").is_some() {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        return Err(ApiError::invalid(
            "meta.k8s.io",
            "PatchOptions",
            "",
            &[error],
        ));
    }
    let (value, repeated) = body::parse_strictly(media_type, &change.body)
        .map_err(|why| ApiError::bad_request(format!("error decoding patch: {why}")))?;
    let patch = match (media_type, value) {
        ("application/json-patch+json", value) => Patch::json(value),
        (_, Value::Object(fields)) if strategic => Ok(Patch::Strategic(fields)),
        (_, Value::Object(fields)) => Ok(Patch::Merge(fields)),
        (_, other) => Err(ApiError::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            if other.is_array() { "array" } else { "value" }
        ))),
    };
    Ok((patch?, repeated))
}

/// `DELETE` of one object.
pub(super) async fn delete(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    let options = delete_options(change)?;
    let deleted = cluster.delete_reviewed(kind, (namespace, name), &options, false);
    let (deleted, warnings) = deleted.await?;
    let response = match deleted {
        Deleted::Gone(last) if kind.returns_deleted => {
            let left = crate::writer::Left::Loose(last);
            answer::object(StatusCode::OK, change.form, kind, &left)
        }
        Deleted::Gone(last) => {
            let status = status::deleted(kind, name, object::uid(&last));
            answer::value(StatusCode::OK, change.form.encoding, &status)
        }
        Deleted::Waiting(left) => answer::object(StatusCode::OK, change.form, kind, &left),
    };
    Ok(answer::with_warnings(response, &warnings))
}

/// `DELETE` of many objects: answers with what there was.
pub(super) async fn delete_collection(
    cluster: &Cluster,
    kind: &Kind,
    namespace: Option<&str>,
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    let options = delete_options(change)?;
    let selection = Selection::of(kind, namespace, change.params)?;
    let list = ListOptions::of_list(change.params)?;
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
    let response = read::render_items(kind, &page.items, meta, change.form);
    Ok(answer::with_warnings(response, &warnings))
}

/// Options come in the body, in the query, or not at all.
fn delete_options(change: &Change<'_>) -> Result<DeleteOptions, ApiError> {
    let body = if change.body.is_empty() {
        Object::new()
    } else if body::media_type(change.headers) == "application/vnd.kubernetes.protobuf" {
        protobuf::decode(&change.body).ok_or_else(|| {
            ApiError::bad_request("the body of the request is no DeleteOptions in protobuf")
        })?
    } else {
        let value = body::parse(body::media_type(change.headers), &change.body).map_err(|why| {
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
    options_of_deletion(&body, change)
}

/// The options that a body, or the part of it that has them, and the query give.
pub(super) fn options_of_deletion(
    body: &Object,
    change: &Change<'_>,
) -> Result<DeleteOptions, ApiError> {
    let kind = object::text(body, &["kind"]).unwrap_or("DeleteOptions");
    if kind != "DeleteOptions" {
        return Err(ApiError::bad_request(format!(
            "decoded object cannot be converted to DeleteOptions: it is a {kind}"
        )));
    }
    // Who sends a body says all of it there.
    let query = change.body.is_empty().then_some(change.params);
    let propagation =
        object::text(body, &["propagationPolicy"]).or_else(|| query?.get("propagationPolicy"));
    let orphans = body
        .get("orphanDependents")
        .and_then(Value::as_bool)
        .or_else(|| {
            Some(
                query
                    .filter(|q| q.get("orphanDependents").is_some())?
                    .flag("orphanDependents"),
            )
        });
    let mut errors = Vec::new();
    if let (Some(policy), Some(_)) = (propagation, orphans) {
        errors.push(FieldError::invalid(
            "propagationPolicy",
            &Value::from(policy),
            "orphanDependents and deletionPropagation cannot be both set",
        ));
    }
    let propagation = match (propagation, orphans) {
        (None, None) => None,
        (None, Some(true)) | (Some("Orphan"), _) => Some(Propagation::Orphan),
        (None, Some(false)) | (Some("Background"), _) => Some(Propagation::Background),
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some(other), _) => {
            let known = ["Foreground", "Background", "Orphan", "nil"].map(|p| format!("{p:?}"));
            let other = Value::from(other);
            errors.push(FieldError::not_supported(
                "propagationPolicy",
                &other,
                &known,
            ));
            None
        }
    };
    if !errors.is_empty() {
        return Err(ApiError::invalid(
            "meta.k8s.io",
            "DeleteOptions",
            "",
            &errors,
        ));
    }
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
