//! Answers: the bytes and headers that every handler returns.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WARNING};
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use super::accept::{Encoding, Form, Shape};
use super::table;
use crate::resources::{Kind, View};
use crate::status::ApiError;
use crate::store::Stored;
use crate::warnings::told;
use crate::writer::Left;

/// A response of these bytes.
pub(super) fn bytes(
    code: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A JSON value, as the client wants it written.
pub(super) fn value(code: StatusCode, encoding: Encoding, value: &Value) -> Response {
    match encoding {
        Encoding::Yaml => match serde_saphyr::to_string(value) {
            Ok(text) => bytes(code, "application/yaml", text),
            Err(_) => json(code, value),
        },
        Encoding::Json => json(code, value),
    }
}

/// A JSON value.
pub(super) fn json(code: StatusCode, value: &Value) -> Response {
    bytes(code, "application/json", value.to_string())
}

/// A refusal, written the way an answer would have been.
pub(super) fn error(encoding: Encoding, error: &ApiError) -> Response {
    let code = StatusCode::from_u16(error.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = value(code, encoding, &error.to_value());
    if let Some(seconds) = error.retry_after() {
        let seconds = HeaderValue::from(seconds);
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    with_warnings(response, error.warnings())
}

/// What the API server says of a path it has never heard of.
pub(super) fn page_not_found() -> Response {
    bytes(
        StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "404 page not found\n",
    )
}

/// Adds warnings for the user.
pub(super) fn with_warnings(mut response: Response, warnings: &[String]) -> Response {
    for warning in told(warnings) {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        let header = format!("299 - \"{quoted}\"");
        // Bytes, as text may be in any language; control characters are refused.
        if let Ok(value) = HeaderValue::from_bytes(header.as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

/// One object.
pub(super) fn object(code: StatusCode, form: Form, kind: &Kind, left: &Left) -> Response {
    match (form.shape, form.encoding, left) {
        (Shape::Full | Shape::Aggregated, Encoding::Json, Left::Stored(stored)) => {
            let mut body = Vec::new();
            write_object(&mut body, &kind.type_prefix(), kind, stored);
            bytes(code, "application/json", body)
        }
        (Shape::Full | Shape::Aggregated, encoding, left) => {
            let object = kind.present_object(left.object().clone());
            value(code, encoding, &Value::Object(object))
        }
        (Shape::Table, encoding, left) => {
            let version = crate::object::meta(left.object(), "resourceVersion");
            let meta = serde_json::json!({"resourceVersion": version.unwrap_or_default()});
            let rows = [left.object()];
            let whole = table::whole(kind, rows.into_iter(), meta, form.include);
            value(code, encoding, &whole)
        }
        (Shape::Partial | Shape::PartialList, encoding, left) => {
            value(code, encoding, &table::partial(left.object()))
        }
    }
}

/// Writes a stored object; `prefix` is its kind's [`Kind::type_prefix`], or `{` for none.
pub(super) fn write_object(out: &mut Vec<u8>, prefix: &str, kind: &Kind, stored: &Stored) {
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(&object_rest(kind, stored));
}

/// A stored object without the opening brace and the type in front.
pub(super) fn object_rest(kind: &Kind, stored: &Stored) -> Bytes {
    match kind.view {
        View::Plain => stored.body().slice(1..),
        View::EventsV1 | View::AutoscalerV1 => {
            let mut shown = kind.present(stored);
            shown.remove("apiVersion");
            shown.remove("kind");
            Bytes::from(Value::Object(shown).to_string()).slice(1..)
        }
    }
}
