//! The `scale` subresource, which `kubectl scale` and autoscalers use.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::accept::ResponseFormat;
use super::write::{WriteRequest, decode_apply, decode_patch};
use super::{body, response};
use crate::object;
use crate::resources::{Kind, Scale, scale_kind};
use crate::status::ApiError;
use crate::writer::{Cluster, ScaleChange, Written};

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

pub(super) async fn update(
    cluster: &Cluster,
    of: (&Kind, &Scale),
    address: (&str, &str),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    let given = body::decode(&scale_kind(), request.headers, &request.body)?;
    let update = |_| Ok(given.clone());
    write(cluster, of, address, request, ScaleChange::Update(&update)).await
}

pub(super) async fn patch(
    cluster: &Cluster,
    of: (&Kind, &Scale),
    address: (&str, &str),
    request: &WriteRequest<'_>,
) -> Result<Response, ApiError> {
    if body::media_type(request.headers).starts_with("application/apply-patch") {
        let apply = decode_apply(&scale_kind(), address.1, "scale", request)?;
        return write(cluster, of, address, request, ScaleChange::Apply(&apply)).await;
    }
    let patch = decode_patch(of.0, request)?;
    let update = |scale| patch.apply(scale);
    write(cluster, of, address, request, ScaleChange::Update(&update)).await
}

async fn write(
    cluster: &Cluster,
    (kind, scale): (&Kind, &Scale),
    address: (&str, &str),
    request: &WriteRequest<'_>,
    what: ScaleChange<'_>,
) -> Result<Response, ApiError> {
    let options = request.options()?;
    let rescaled = cluster.rescale((kind, scale), address, &options, what);
    let (left, warnings) = rescaled.await?;
    let shown = match &left {
        Written::Stored(stored) => kind.present(stored),
        Written::Unstored(object) => kind.present_object(object.clone()),
    };
    let response = show(scale, &shown, request.form);
    Ok(response::with_warnings(response, &warnings))
}

fn show(scale: &Scale, object: &object::Object, form: ResponseFormat) -> Response {
    let scale = Value::Object(scale.of(object));
    response::value(StatusCode::OK, form.encoding, &scale)
}
