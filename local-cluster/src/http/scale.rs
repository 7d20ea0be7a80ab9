//! The `scale` subresource, which `kubectl scale` and autoscalers use: a view of an object's replicas.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

use super::accept::ResponseFormat;
use super::write::{WriteRequest, decode_apply, decode_patch};
use super::{body, response};
use crate::faults::Verb;
use crate::field_error::FieldError;
use crate::object::{self, Object, at};
use crate::patch::Apply;
use crate::resources::{Conversion, Kind, Scale};
use crate::rules::Part;
use crate::status::ApiError;
use crate::store::Resource;
use crate::writer::{Cluster, Written};

pub(super) fn get(
    cluster: &Cluster,
    (kind, scale): (&Kind, &Scale),
    (namespace, name): (&str, &str),
    form: ResponseFormat,
) -> Result<Response, ApiError> {
    let stored = cluster.read(kind, namespace, name)?;
    let shown = kind.present(&stored);
    if kind.is_custom() && object::at(&shown, &scale.replicas_path()).is_none() {
        let path = &scale.spec_path;
        return Err(ApiError::internal_because(&format!(
            "the spec replicas field {path:?} does not exist"
        )));
    }
    Ok(show(scale, &shown, form))
}

/// Updates, patches or applies. An apply is one of the object's replicas.
pub(super) async fn write(
    cluster: &Cluster,
    (kind, scale): (&Kind, &Scale),
    address: (&str, &str),
    verb: Verb,
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let applies = body::media_type(request.headers).starts_with("application/apply-patch");
    if applies && verb == Verb::Patch {
        let apply = decode_apply(&scale_kind(), address.1, "scale", request)?;
        let mut desired = object::object(json!({
            "apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": address.1},
        }));
        scale.set(&mut desired, replicas(&apply.desired)?);
        let apply = Apply { desired, ..apply };
        let options = request.options()?;
        let (left, warnings, _) = cluster.apply(kind, address, &apply, &options).await?;
        return Ok(respond((kind, scale), &left, &warnings, request.form));
    }
    type Change = Box<dyn Fn(Object) -> Result<Object, ApiError> + Send + Sync>;
    let change: Change = if verb == Verb::Update {
        let given = body::decode(&scale_kind(), request.headers, &request.body)?;
        Box::new(move |_| Ok(given.clone()))
    } else {
        let patch = decode_patch(kind, request)?;
        Box::new(move |scale| patch.apply(scale))
    };
    let options = request.options()?;
    let rescale = |mut object: Object| {
        let next = change(scale.of(&object))?;
        check(&next, address.1)?;
        scale.set(&mut object, replicas(&next)?);
        if let Some(version) = object::meta(&next, "resourceVersion").filter(|v| !v.is_empty()) {
            let meta = object::child(&mut object, "metadata");
            meta.insert("resourceVersion".to_owned(), version.into());
        }
        Ok(object)
    };
    let rescaled = cluster.update(kind, address, Part::Scale, &options, rescale);
    let (left, warnings) = rescaled.await?;
    Ok(respond((kind, scale), &left, &warnings, request.form))
}

fn respond(
    (kind, scale): (&Kind, &Scale),
    left: &Written,
    warnings: &[String],
    form: ResponseFormat,
) -> Response {
    let shown = kind.present_object(left.object().clone());
    response::with_warnings(show(scale, &shown, form), warnings)
}

fn show(scale: &Scale, object: &Object, form: ResponseFormat) -> Response {
    let scale = Value::Object(scale.of(object));
    response::value(StatusCode::OK, form.encoding, &scale)
}

fn check(scale: &Object, name: &str) -> Result<(), ApiError> {
    let word = |key: &str| object::text(scale, &[key]).unwrap_or_default();
    let (kind, version, given) = (word("kind"), word("apiVersion"), object::name(scale));
    if (kind, version) != ("Scale", "autoscaling/v1") {
        return Err(ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a Scale: an autoscaling/v1 Scale is expected"
        )));
    }
    if given != name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

fn replicas(scale: &Object) -> Result<i64, ApiError> {
    match at(scale, &["spec", "replicas"]) {
        None | Some(Value::Null) => Ok(0),
        Some(value) => match value.as_i64() {
            Some(number) if number < 0 => {
                let why = "must be greater than or equal to 0";
                let error = FieldError::invalid("spec.replicas", value, why);
                let name = object::name(scale);
                Err(ApiError::invalid("autoscaling", "Scale", name, &[error]))
            }
            Some(number) if number <= i64::from(i32::MAX) => Ok(number),
            _ => Err(ApiError::bad_request(format!(
                "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal {value} into Go struct field ScaleSpec.spec.replicas of type int32"
            ))),
        },
    }
}

/// `autoscaling/v1` `Scale`, which is never stored.
fn scale_kind() -> Kind {
    Kind {
        group: "autoscaling".to_owned(),
        version: "v1".to_owned(),
        kind: "Scale".to_owned(),
        list_kind: "ScaleList".to_owned(),
        plural: "scales".to_owned(),
        singular: "scale".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        has_status: true,
        has_generation: false,
        returns_deleted: false,
        unconditional_update: true,
        conversion: Conversion::None,
        round_trip: None,
        schema: None,
        storage: Resource::new("autoscaling", "scales"),
        custom: None,
    }
}
