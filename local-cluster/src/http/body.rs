//! Decoding of request bodies by media type.

use std::time::Duration;

use axum::body::Body;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use lbcf_serving::body::{BodyBudget, BodyLimits, ReadBodyError, ReceivedBody};
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;
use tokio::time::Instant;

use crate::field_error::ErrorList as _;
use crate::object::{self, Object, json_type};
use crate::resources::Kind;
use crate::rules::clean_metadata;
use crate::status::{ApiError, BODY_TYPES};

/// The deepest nesting of YAML; that of JSON is limited by its parser.
const MAX_DEPTH: usize = 128;
/// Enough stack for [`MAX_DEPTH`] levels of YAML, even in a debug build.
const YAML_STACK: usize = 32 * 1024 * 1024;

/// The size of a request body in bytes, as on a cluster.
const LIMIT: usize = 3 * 1024 * 1024;
/// The time until its last byte has arrived.
const TIME: Duration = Duration::from_secs(60);

/// Reads a body within its limits.
pub(super) async fn read(
    body: Body,
    budget: Option<&BodyBudget>,
) -> Result<ReceivedBody, ApiError> {
    let limits = BodyLimits {
        bytes: LIMIT,
        discarded: 0,
        until: Instant::now() + TIME,
    };
    let received = lbcf_serving::body::read(body, limits, budget).await;
    received.map_err(|error| match error {
        ReadBodyError::TooLarge => ApiError::too_large(LIMIT),
        ReadBodyError::NoMemory => ApiError::too_many_requests(),
        ReadBodyError::OutOfTime => ApiError::out_of_time(),
        ReadBodyError::Broken(why) => ApiError::bad_request(format!("reading the body: {why}")),
    })
}

/// The media types of bodies, patches included.
const KNOWN_TYPES: [&str; 8] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
];

/// The media type of the body without parameters; JSON by default.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return "application/json";
    };
    // An unreadable header is an unsupported media type.
    let Ok(text) = value.to_str() else {
        return "?";
    };
    let given = text.split(';').next().unwrap_or_default().trim();
    match given {
        "" if text.is_empty() => "application/json",
        "" => "?",
        _ => KNOWN_TYPES
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(given))
            .unwrap_or(given),
    }
}

/// Decodes JSON, or YAML if the media type is a YAML one; the error is the bare reason.
pub(super) fn parse(media_type: &str, bytes: &[u8]) -> Result<Value, String> {
    // JSON is valid YAML, and most clients that apply send it.
    match serde_json::from_slice(bytes) {
        Ok(parsed) => return Ok(parsed),
        Err(error) if !media_type.ends_with("yaml") => return Err(json_reason(bytes, &error)),
        Err(_) => {}
    }
    // The YAML library needs much more stack for each level.
    let parsed = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(YAML_STACK)
            .spawn_scoped(scope, || parse_yaml(bytes))
            .map_err(|error| error.to_string())
            .and_then(|thread| {
                let broken = |_| "it cannot be read".to_owned();
                thread.join().map_err(broken).and_then(|parsed| parsed)
            })
    });
    parsed.map_err(|why| format!("error converting YAML to JSON: {why}"))
}

/// Decodes YAML within the limits that apply to JSON.
fn parse_yaml(bytes: &[u8]) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        legacy_octal_numbers: true,
        // People write hundreds of aliases, not thousands.
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 100_000,
        },
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: 1_000_000,
            max_anchors: 1000,
            max_aliases: 5000,
            max_recorded_anchor_events: 100_000,
            max_recorded_anchor_bytes: 16 * 1024 * 1024,
            max_merge_keys: 200,
            max_total_scalar_bytes: 16 * 1024 * 1024,
        },
    };
    let text = std::str::from_utf8(bytes).map_err(|_| "yaml: invalid UTF-8")?;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        // The following lines quote the document, which the client has.
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        format!("yaml: {}", line.strip_prefix("error: ").unwrap_or(line))
    })
}

/// The reason in the words of Go's JSON decoder.
fn json_reason(bytes: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    // The character is valid, but nested too deeply.
    if error.to_string().starts_with("recursion limit exceeded") {
        return "exceeded max depth".to_owned();
    }
    let line = bytes
        .split(|b| *b == b'\n')
        .nth(error.line().saturating_sub(1));
    let at = line.and_then(|l| l.get(error.column().saturating_sub(1)));
    match at {
        Some(byte) if error.is_syntax() && byte.is_ascii_graphic() => {
            format!(
                "invalid character '{}' looking for beginning of value",
                char::from(*byte)
            )
        }
        _ => error.to_string(),
    }
}

pub(super) fn check_media_type(media_type: &str) -> Result<(), ApiError> {
    match BODY_TYPES.split(", ").any(|one| one == media_type) {
        true => Ok(()),
        false => Err(ApiError::unsupported_media_type(BODY_TYPES)),
    }
}

/// Decodes the body of a create or an update.
pub(super) fn decode(kind: &Kind, headers: &HeaderMap, bytes: &[u8]) -> Result<Object, ApiError> {
    let media_type = media_type(headers);
    if media_type == "application/vnd.kubernetes.protobuf" {
        let object = super::protobuf::decode(bytes, &kind.api_version(), &kind.kind);
        let object = object.ok_or_else(|| match kind.is_custom() {
            true => ApiError::unsupported_media_type(BODY_TYPES),
            false => ApiError::cannot_handle(kind, "it is no protobuf message of this kind"),
        })?;
        check_type(kind, &object)?;
        return Ok(object);
    }
    check_media_type(media_type)?;
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
    let mut object = object_of(value).map_err(|why| unrecognized(&why))?;
    for key in ["kind", "apiVersion"] {
        let missing = match object.get(key) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(other) => {
                let of = json_type(other);
                return Err(unrecognized(&format!(
                    "couldn't get version/kind; json parse error: json: cannot unmarshal {of} into Go struct field .{key} of type string"
                )));
            }
        };
        if !missing {
            continue;
        }
        if kind.is_custom() && key == "kind" {
            let text = String::from_utf8_lossy(bytes);
            return Err(unrecognized(&format!(
                "Object 'Kind' is missing in '{text}'"
            )));
        }
        if kind.is_custom() {
            break;
        }
        // For a built-in kind the path determines both.
        let value = if key == "kind" {
            kind.kind.clone()
        } else {
            kind.api_version()
        };
        object.insert(key.to_owned(), Value::from(value));
    }
    check_version(kind, &object)?;
    check_type(kind, &object)?;
    Ok(object)
}

/// Refuses a custom resource of another version than that of the path.
fn check_version(kind: &Kind, object: &Object) -> Result<(), ApiError> {
    let given = object.get("apiVersion").unwrap_or(&Value::Null);
    let version = given.as_str().unwrap_or_default();
    if !kind.is_custom() || version == kind.api_version() {
        return Ok(());
    }
    let shown = kind.in_version(version);
    if given.is_null() {
        let why = ".apiVersion accessor error: <nil> is of the type <nil>, expected string";
        return Err(ApiError::cannot_handle(&shown, why));
    }
    clean_metadata(&shown, &mut object.clone())?;
    Err(ApiError::other_version(version, kind))
}

/// Null is an empty object; other values are errors in the words of Go's decoder.
pub(super) fn object_of(value: Value) -> Result<Object, String> {
    match value {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Object::new()),
        other => Err(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            json_type(&other)
        )),
    }
}

/// Checks `kind` and `apiVersion` against the kind of the request's path.
pub(super) fn check_type(kind: &Kind, object: &Object) -> Result<(), ApiError> {
    let given_kind = object::text(object, &["kind"]).unwrap_or_default();
    let given_version = object::text(object, &["apiVersion"]).unwrap_or_default();
    let version = kind.api_version();
    if given_kind == kind.kind && given_version == version {
        return Ok(());
    }
    if !kind.is_custom() {
        if given_kind == kind.kind && given_version.starts_with(&kind.group) {
            return Err(ApiError::other_version(given_version, kind));
        }
        return Err(ApiError::bad_request(format!(
            "{given_kind} in version \"{}\" cannot be handled as a {}: no kind \"{given_kind}\" is registered for version \"{given_version}\" in scheme \"pkg/runtime/scheme.go:111\"",
            given_version.rsplit('/').next().unwrap_or_default(),
            kind.kind,
        )));
    }
    let mut errors = Vec::new();
    for (field, given, expected) in [
        ("kind", given_kind, kind.kind.as_str()),
        ("apiVersion", given_version, version.as_str()),
    ] {
        if given != expected {
            let detail = format!("must be {expected}");
            errors.invalid(field, given, &detail);
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

/// The first characters of a body, for error messages.
fn summary(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "<empty>".to_owned();
    }
    let shown = bytes.get(..30).unwrap_or(bytes);
    let mut start = match bytes.first() {
        Some(b'{') => String::from_utf8_lossy(shown).into_owned(),
        _ => shown.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if shown.len() < bytes.len() {
        start.push_str(" ...");
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_aliases_are_limited() {
        let of = |size: usize, copies: usize| {
            let mut text = format!("a: &a \"{}\"\n", "x".repeat(size));
            for number in 0..copies {
                // Few aliases for each anchor: the library limits that ratio, too.
                text.push_str(&format!("b{number}: &b{number} [*a]\n"));
            }
            parse("application/yaml", text.as_bytes())
        };
        let few = of(10, 50).unwrap();
        assert_eq!(few["b49"][0], "xxxxxxxxxx");
        let refused = of(1_000_000, 120).unwrap_err();
        assert!(refused.contains("budget breached"), "{refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }

    #[test]
    fn json_errors_are_worded_as_gos() {
        for (body, expected) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\":", "unexpected end of JSON input"),
            (
                "{\"a\":}",
                "invalid character '}' looking for beginning of value",
            ),
            (&"[".repeat(200), "exceeded max depth"),
        ] {
            assert_eq!(
                parse("application/json", body.as_bytes()),
                Err(expected.to_owned())
            );
        }
    }
}
