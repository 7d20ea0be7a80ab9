//! Rendering of responses.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER, WARNING};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;

use super::accept::{Encoding, ResponseFormat, Transform};
use super::table;
use crate::resources::{Conversion, Document, Kind};
use crate::status::ApiError;
use crate::store::Stored;
use crate::warnings::truncated;
use crate::writer::Written;

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

pub(super) fn value(code: StatusCode, encoding: Encoding, value: &Value) -> Response {
    match encoding {
        Encoding::Yaml => match serde_saphyr::to_string(value) {
            Ok(text) => bytes(code, "application/yaml", text),
            Err(_) => json(code, value),
        },
        Encoding::Json => json(code, value),
    }
}

pub(super) fn json(code: StatusCode, value: &Value) -> Response {
    bytes(code, "application/json", value.to_string())
}

/// An error as a `Status`, in the negotiated encoding.
pub(super) fn error(encoding: Encoding, error: &ApiError) -> Response {
    let code = StatusCode::from_u16(error.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = value(code, encoding, &error.to_value());
    if let Some(seconds) = error.retry_after() {
        let seconds = HeaderValue::from(seconds);
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    with_warnings(response, error.warnings())
}

/// The response to a path that is no part of the API.
pub(super) fn page_not_found() -> Response {
    bytes(
        StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "404 page not found\n",
    )
}

/// A document that clients cache and revalidate by its entity tag; 304 if the client has it.
pub(super) fn cached(
    headers: &HeaderMap,
    document: &Document,
    content_type: &'static str,
) -> Response {
    let mut response = if etag_matches(headers, &document.tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        bytes(StatusCode::OK, content_type, document.body.clone())
    };
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", document.tag)) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

fn etag_matches(headers: &HeaderMap, tag: &str) -> bool {
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|one| one.trim().trim_start_matches("W/"))
        .any(|one| one == "*" || one.trim_matches('"') == tag)
}

pub(super) fn with_warnings(mut response: Response, warnings: &[String]) -> Response {
    for warning in truncated(warnings) {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        let header = format!("299 - \"{quoted}\"");
        // Bytes, because warnings may hold any UTF-8; those with control characters are dropped.
        if let Ok(value) = HeaderValue::from_bytes(header.as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}

pub(super) fn object(
    code: StatusCode,
    form: ResponseFormat,
    kind: &Kind,
    left: &Written,
) -> Response {
    match (form.transform, form.encoding, left) {
        (Transform::None | Transform::Aggregated, Encoding::Json, Written::Stored(stored)) => {
            let mut body = Vec::new();
            write_object(&mut body, &kind.type_prefix(), kind, stored);
            bytes(code, "application/json", body)
        }
        (Transform::None | Transform::Aggregated, encoding, left) => {
            let object = kind.present_object(left.object().clone());
            value(code, encoding, &Value::Object(object))
        }
        (Transform::Table, encoding, left) => {
            let version = crate::object::meta(left.object(), "resourceVersion");
            let meta = serde_json::json!({"resourceVersion": version.unwrap_or_default()});
            let rows = [left.object()];
            let whole = table::whole(kind, rows.into_iter(), meta, form.include);
            value(code, encoding, &whole)
        }
        (Transform::Partial, encoding, left) => {
            value(code, encoding, &table::partial(left.object()))
        }
        (Transform::PartialList, encoding, _) => error(encoding, &form.misfit(kind, false)),
    }
}

/// Writes a stored object; `prefix` is [`Kind::type_prefix`], or `{` to leave the type out.
pub(super) fn write_object(out: &mut Vec<u8>, prefix: &str, kind: &Kind, stored: &Stored) {
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(&object_rest(kind, stored));
}

/// A stored object without its opening brace, `apiVersion` and `kind`.
pub(super) fn object_rest(kind: &Kind, stored: &Stored) -> Bytes {
    match kind.conversion {
        Conversion::None => stored.body().slice(1..),
        Conversion::EventsV1 | Conversion::AutoscalerV1 => {
            let mut shown = kind.present(stored);
            shown.remove("apiVersion");
            shown.remove("kind");
            Bytes::from(Value::Object(shown).to_string()).slice(1..)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etags_match_in_every_notation() {
        let matches = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static(value));
            etag_matches(&headers, "AB")
        };
        for value in ["\"AB\"", "W/\"AB\"", "\"CD\", \"AB\"", "*"] {
            assert!(matches(value), "{value}");
        }
        for value in ["\"A\"", "\"CD\"", "", "\"ABC\""] {
            assert!(!matches(value), "{value}");
        }
        assert!(!etag_matches(&HeaderMap::new(), "AB"));
    }
}
