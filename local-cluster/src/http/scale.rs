//! The `scale` subresource, which `kubectl scale` and autoscalers use: a view of an object's replicas.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::call::Call;
use super::write::{applies, check_result, decode_apply, decode_patch};
use super::{body, read, response};
use crate::faults::Verb;
use crate::field_error::FieldError;
use crate::object::{self, Object, at};
use crate::patch::{Apply, Patch};
use crate::resources::{Kind, Scale};
use crate::rules::{Part, clean_metadata, decode};
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::{Written, check_url_name};

pub(super) async fn get(call: &Call<'_>, scale: &Scale) -> Result<Response, ApiError> {
    let kind = call.kind;
    read::reach_given(call).await?;
    let shown = kind.present(&*call.stored()?);
    if kind.is_custom() && object::at(&shown, &scale.replicas_path()).is_none() {
        let path = &scale.spec_path;
        return Err(ApiError::internal_because(&format!(
            "the spec replicas field {path:?} does not exist"
        )));
    }
    Ok(show(call, scale, &shown, &[]))
}

/// Updates, patches or applies. An apply is one of the object's replicas.
pub(super) async fn write(
    call: &Call<'_>,
    scale: &Scale,
    verb: Verb,
) -> Result<Response, ApiError> {
    let (kind, address) = (call.kind, call.address());
    if verb == Verb::Patch && applies(call) {
        let apply = decode_apply(call, &scale_kind(), "scale");
        if apply.as_ref().err().is_none_or(|error| error.code() == 400) {
            call.stored()?;
        }
        let apply = apply?;
        let mut desired = object::object(json!({
            "apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": address.1},
        }));
        if at(&apply.desired, &["spec", "replicas"]).is_some() {
            scale.set(&mut desired, replicas(kind, &apply.desired)?);
        }
        let apply = Apply { desired, ..apply };
        let options = call.options();
        let applied = call.cluster.apply(kind, address, &apply, &options);
        let (left, warnings, _) = applied.await?;
        return Ok(respond(call, scale, &left, &warnings));
    }
    let change = decode_change(call, verb)?;
    let options = call.options();
    let mut scaled = change(scale.of(&kind.present(&*call.stored()?)))?;
    let unknown = decode(&scale_kind(), &mut scaled, options.validation)?;
    let rescale = |mut object: Object| {
        let next = change(scale.of(&object))?;
        let replicas = decoded_replicas(kind, &next, verb)?;
        check(&next, address.1)?;
        scale.set(&mut object, replicas);
        if let Some(version) = object::meta(&next, "resourceVersion").filter(|v| !v.is_empty()) {
            let meta = object::child(&mut object, "metadata");
            meta.insert("resourceVersion".to_owned(), version.into());
        }
        Ok(object)
    };
    let rescaled = call
        .cluster
        .update(kind, address, Part::Scale, &options, rescale);
    let (left, mut warnings) = rescaled.await?;
    warnings.extend(unknown);
    Ok(respond(call, scale, &left, &warnings))
}

type Change = Box<dyn Fn(Object) -> Result<Object, ApiError> + Send + Sync>;

/// The scale that an update sends, or that a patch makes of the present one.
fn decode_change(call: &Call<'_>, verb: Verb) -> Result<Change, ApiError> {
    if verb == Verb::Update {
        call.params.check("UpdateOptions", Vec::new())?;
        let given = body::decode(&scale_kind(), &call.parts.headers, &call.body)
            .and_then(|given| replicas(call.kind, &given).map(|_| given));
        if call.kind.is_custom() && given.as_ref().is_err_and(|error| error.code() == 400) {
            let why = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";
            return Err(ApiError::bad_request(why));
        }
        let given = given?;
        Ok(Box::new(move |_| Ok(given.clone())))
    } else {
        let patch = decode_patch(call);
        if patch.as_ref().is_err_and(|error| error.code() == 400) {
            call.stored()?;
        }
        let patch = patch?;
        let validation = call.options().validation;
        Ok(Box::new(move |scale| {
            let next = patch.apply(scale)?;
            if let Patch::Strategic(fields) = &patch {
                check_result(&scale_kind(), fields, &next, validation)?;
            }
            Ok(next)
        }))
    }
}

fn decoded_replicas(kind: &Kind, scale: &Object, verb: Verb) -> Result<i64, ApiError> {
    let decoded = clean_metadata(&scale_kind(), &mut scale.clone());
    decoded
        .and_then(|()| replicas(kind, scale))
        .map_err(|error| match error.undecodable() {
            Some(why) if verb == Verb::Patch => {
                ApiError::undecodable_result(&Value::Object(scale.clone()).to_string(), why)
            }
            _ => error,
        })
}

fn respond(call: &Call<'_>, scale: &Scale, left: &Written, warnings: &[String]) -> Response {
    let shown = call.kind.present_object(left.object().clone());
    show(call, scale, &shown, warnings)
}

fn show(call: &Call<'_>, scale: &Scale, object: &Object, warnings: &[String]) -> Response {
    let kind = Kind {
        plural: match call.kind.is_custom() {
            true => "scales of custom resources",
            false => "scales",
        }
        .to_owned(),
        ..scale_kind()
    };
    let scale = Written::Unstored(scale.of(object));
    let response = response::object(StatusCode::OK, call.form, &kind, &scale);
    response::with_warnings(response, warnings)
}

fn check(scale: &Object, name: &str) -> Result<(), ApiError> {
    let word = |key: &str| object::text(scale, &[key]).unwrap_or_default();
    let (kind, version) = (word("kind"), word("apiVersion"));
    if (kind, version) != ("Scale", "autoscaling/v1") {
        return Err(ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a Scale: an autoscaling/v1 Scale is expected"
        )));
    }
    check_url_name(scale, name)
}

fn replicas(kind: &Kind, scale: &Object) -> Result<i64, ApiError> {
    let unreadable = |value: &Value, field: &str| {
        ApiError::bad_request(format!(
            "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal {} into Go struct field {field}",
            object::json_type(value)
        ))
    };
    if let Some(spec) = scale
        .get("spec")
        .filter(|spec| !spec.is_object() && !spec.is_null())
    {
        return Err(unreadable(spec, "Scale.spec of type v1.ScaleSpec"));
    }
    match at(scale, &["spec", "replicas"]) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => match value.as_i64() {
            Some(number) if number < 0 && !kind.is_custom() => {
                let why = "must be greater than or equal to 0";
                let error = FieldError::invalid("spec.replicas", value, why);
                let name = object::name(scale);
                Err(ApiError::invalid("autoscaling", "Scale", name, &[error]))
            }
            Some(number) if number <= i64::from(i32::MAX) => Ok(number),
            _ => Err(unreadable(value, "ScaleSpec.spec.replicas of type int32")),
        },
    }
}

/// `autoscaling/v1` `Scale`, which is never stored.
fn scale_kind() -> Kind {
    Kind {
        group: "autoscaling".to_owned(),
        version: "v1".to_owned(),
        kind: "Scale".to_owned(),
        plural: "scales".to_owned(),
        storage: Resource::new("v1", "scales"),
        ..Kind::default()
    }
}
