//! Reading bodies: their size, their media type, and what is wrong with them.

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;

use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::resources::Kind;
use crate::status::ApiError;

/// What an object may measure, as on a cluster.
pub(super) const LIMIT: usize = 3 * 1024 * 1024;

const BODY_TYPES: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// Reads a body that is not too big.
pub(super) async fn read(body: Body) -> Result<Bytes, ApiError> {
    match Limited::new(body, LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => {
            Err(ApiError::too_large(LIMIT))
        }
        Err(error) => Err(ApiError::bad_request(format!("reading the body: {error}"))),
    }
}

/// The media type of a body, without parameters; JSON when nothing is said.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .unwrap_or("application/json")
}

/// A value in JSON, or in YAML where that is the media type; the error is only the reason.
pub(super) fn parse(media_type: &str, bytes: &[u8]) -> Result<Value, String> {
    if media_type.ends_with("yaml") {
        return parse_yaml(bytes);
    }
    serde_json::from_slice(bytes).map_err(|error| json_reason(bytes, &error))
}

/// YAML within the bounds that JSON has, so that no document can exhaust the stack.
fn parse_yaml(bytes: &[u8]) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: 128 },
    };
    serde_saphyr::from_slice_with_options(bytes, options)
        .map_err(|e| format!("error converting YAML to JSON: {e}"))
}

/// The reason in the words that Kubernetes' clients know.
fn json_reason(bytes: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = bytes
        .split(|b| *b == b'\n')
        .nth(error.line().saturating_sub(1));
    let at = line.and_then(|l| l.get(error.column().saturating_sub(1)));
    match at {
        Some(byte) if byte.is_ascii_graphic() => {
            format!(
                "invalid character '{}' looking for beginning of value",
                char::from(*byte)
            )
        }
        _ => error.to_string(),
    }
}

/// Decodes the body of a create or an update.
pub(super) fn decode(kind: &Kind, headers: &HeaderMap, bytes: &[u8]) -> Result<Object, ApiError> {
    let media_type = media_type(headers);
    if media_type == "application/vnd.kubernetes.protobuf" {
        let object = super::protobuf::decode(bytes)
            .ok_or_else(|| ApiError::unsupported_media_type(BODY_TYPES))?;
        check_type(kind, &object)?;
        return Ok(object);
    }
    if !matches!(media_type, "application/json" | "application/yaml") {
        return Err(ApiError::unsupported_media_type(BODY_TYPES));
    }
    let shown = summary(bytes);
    let unrecognized = |why: &str| {
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): {why} ({shown})",
            kind.kind
        ))
    };
    let value = parse(media_type, bytes).map_err(|why| {
        unrecognized(&format!(
            "couldn't get version/kind; json parse error: {why}"
        ))
    })?;
    let Value::Object(mut object) = value else {
        return Err(unrecognized(
            "couldn't get version/kind; json parse error: json: cannot unmarshal into an object with version and kind",
        ));
    };
    for key in ["kind", "apiVersion"] {
        let missing = match object.get(key) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(_) => {
                return Err(unrecognized(&format!(
                    "couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .{key} of type string"
                )));
            }
        };
        if !missing {
            continue;
        }
        if kind.is_custom() {
            let name = if key == "kind" { "Kind" } else { key };
            return Err(unrecognized(&format!(
                "Object '{name}' is missing in '{shown}'"
            )));
        }
        // For a built-in kind the address says enough.
        let value = if key == "kind" {
            kind.kind.clone()
        } else {
            kind.api_version()
        };
        object.insert(key.to_owned(), Value::from(value));
    }
    check_type(kind, &object)?;
    Ok(object)
}

/// Checks that an object says it is what its address says.
pub(super) fn check_type(kind: &Kind, object: &Object) -> Result<(), ApiError> {
    let given_kind = object::text(object, &["kind"]).unwrap_or_default();
    let given_version = object::text(object, &["apiVersion"]).unwrap_or_default();
    let version = kind.api_version();
    if given_kind == kind.kind && given_version == version {
        return Ok(());
    }
    if !kind.is_custom() {
        if given_kind == kind.kind {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({given_version}) does not match the expected API version ({version})"
            )));
        }
        return Err(ApiError::bad_request(format!(
            "{given_kind} in version \"{}\" cannot be handled as a {}: no kind \"{given_kind}\" is registered for version \"{given_version}\" in scheme",
            given_version.rsplit('/').next().unwrap_or_default(),
            kind.kind,
        )));
    }
    let mut errors = Vec::new();
    for (field, given, wanted) in [
        ("kind", given_kind, kind.kind.as_str()),
        ("apiVersion", given_version, version.as_str()),
    ] {
        if given != wanted {
            let detail = format!("must be {wanted}");
            errors.push(FieldError::invalid(field, &Value::from(given), &detail));
        }
    }
    let group = given_version.split_once('/').map_or("", |(group, _)| group);
    Err(ApiError::invalid(
        group,
        given_kind,
        object::name(object),
        &errors,
    ))
}

/// The beginning of a body, for a message.
fn summary(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "<empty>".to_owned();
    }
    let text = String::from_utf8_lossy(bytes);
    let mut start: String = text.chars().take(256).collect();
    if start.len() < text.len() {
        start.push_str(" ...");
    }
    start
}
