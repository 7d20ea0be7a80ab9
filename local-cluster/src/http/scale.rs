//! Scales: what `kubectl scale` and autoscalers read and write.

use axum::response::Response;
use http::StatusCode;
use serde_json::Value;

use super::accept::Form;
use super::write::{Change, decode_patch, wanted};
use super::{answer, body};
use crate::object;
use crate::patch::Apply;
use crate::resources::{Kind, Scale, scale_kind};
use crate::status::ApiError;
use crate::warnings::note;
use crate::writer::{Cluster, Left, ScaleChange};

/// `GET`
pub(super) fn get(
    cluster: &Cluster,
    (kind, scale): (&Kind, &Scale),
    (namespace, name): (&str, &str),
    form: Form,
) -> Result<Response, ApiError> {
    let stored = cluster.read(kind, namespace, name)?;
    let shown = kind.present(&stored);
    if kind.is_custom() && object::at(&shown, &scale.wanted_at()).is_none() {
        let path = &scale.spec_path;
        return Err(ApiError::internal_because(&format!(
            "the spec replicas field {path:?} does not exist"
        )));
    }
    Ok(show(scale, &shown, form))
}

/// `PUT`
pub(super) async fn update(
    cluster: &Cluster,
    of: (&Kind, &Scale),
    address: (&str, &str),
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    let (given, repeated) = body::decode(&scale_kind(), change.headers, &change.body)?;
    let update = |_| Ok(given.clone());
    write(
        cluster,
        of,
        address,
        (change, &repeated),
        ScaleChange::Update(&update),
    )
    .await
}

/// `PATCH`
pub(super) async fn patch(
    cluster: &Cluster,
    of: (&Kind, &Scale),
    address: (&str, &str),
    change: &Change<'_>,
) -> Result<Response, ApiError> {
    if body::media_type(change.headers).starts_with("application/apply-patch") {
        let (wanted, repeated) = wanted(&scale_kind(), address.1, change)?;
        let apply = Apply {
            subresource: "scale".to_owned(),
            ..wanted
        };
        return write(
            cluster,
            of,
            address,
            (change, &repeated),
            ScaleChange::Apply(&apply),
        )
        .await;
    }
    let (patch, repeated) = decode_patch(of.0, change)?;
    let update = |scale| patch.apply(scale);
    write(
        cluster,
        of,
        address,
        (change, &repeated),
        ScaleChange::Update(&update),
    )
    .await
}

async fn write(
    cluster: &Cluster,
    (kind, scale): (&Kind, &Scale),
    address: (&str, &str),
    (change, repeated): (&Change<'_>, &[String]),
    what: ScaleChange<'_>,
) -> Result<Response, ApiError> {
    let options = change.options()?;
    let mut warnings = body::judge_duplicates(&scale_kind(), repeated, options.validation)?;
    let rescaled = cluster.rescale((kind, scale), address, &options, what);
    let (left, more) = rescaled.await?;
    note(&mut warnings, more);
    let shown = match &left {
        Left::Stored(stored) => kind.present(stored),
        Left::Loose(object) => kind.present_object(object.clone()),
    };
    let response = show(scale, &shown, change.form);
    Ok(answer::with_warnings(response, &warnings))
}

fn show(scale: &Scale, object: &object::Object, form: Form) -> Response {
    let scale = Value::Object(scale.of(object));
    answer::value(StatusCode::OK, form.encoding, &scale)
}
