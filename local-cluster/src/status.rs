//! Errors, with the codes, reasons and messages of the Kubernetes API.
//!
//! Clients decide by `reason` and `code`, users read `message`, and kubectl prints `details.causes`; so
//! every error of a request is an [`ApiError`], and each kind of error has one constructor here. The
//! rules return it too, and HTTP only renders it.

mod objects;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::field_error::FieldError;
use crate::names::qualified;
use crate::object::{Object, json_type, object};
use crate::resources::Kind;

/// The media types of objects.
pub(crate) const BODY_TYPES: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The error of a request, which is sent as a Kubernetes `Status`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError(Box<StatusFields>);

#[derive(Clone, Debug, PartialEq)]
struct StatusFields {
    code: u16,
    reason: Cow<'static, str>,
    message: String,
    details: Option<Object>,
    /// From where an inconsistent list can continue.
    continue_token: Option<String>,
    warnings: Vec<String>,
}

impl ApiError {
    /// An error with the usual reason of its code.
    fn new(code: u16, message: impl Into<String>) -> Self {
        let reason = match code {
            400 => "BadRequest",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            405 => "MethodNotAllowed",
            406 => "NotAcceptable",
            409 => "Conflict",
            410 => "Expired",
            413 => "RequestEntityTooLarge",
            415 => "UnsupportedMediaType",
            422 => "Invalid",
            429 => "TooManyRequests",
            504 => "Timeout",
            _ => "InternalError",
        };
        Self::with_reason(code, reason, message)
    }

    pub(crate) fn with_reason(
        code: u16,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self(Box::new(StatusFields {
            code,
            reason: reason.into(),
            message: message.into(),
            details: None,
            continue_token: None,
            warnings: Vec::new(),
        }))
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.0.details = Some(object(details));
        self
    }

    /// Adds warnings, which the client receives with the error.
    pub(crate) fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.0.warnings.splice(..0, warnings);
        self
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    pub(crate) fn code(&self) -> u16 {
        self.0.code
    }

    /// After how many seconds the client may retry.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.0.details.as_ref()?.get("retryAfterSeconds")?.as_u64()
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut status = object(json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.0.message, "code": self.0.code,
        }));
        if !self.0.reason.is_empty() {
            status.insert("reason".to_owned(), Value::from(&*self.0.reason));
        }
        if let Some(details) = &self.0.details {
            status.insert("details".to_owned(), Value::Object(details.clone()));
        }
        if let Some(token) = &self.0.continue_token {
            status.insert("metadata".to_owned(), json!({"continue": token}));
        }
        Value::Object(status)
    }

    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut seen = HashSet::new();
        let mut lines: Vec<String> = Vec::new();
        for line in errors.iter().map(|e| format!("{}: {}", e.field, e.message)) {
            if seen.insert(line.clone()) {
                lines.push(line);
            }
        }
        let what = match lines.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let qualified = qualified(kind, group);
        let message = format!("{qualified} \"{name}\" is invalid: {what}");
        let causes: Vec<Value> = errors
            .iter()
            .map(|e| json!({"reason": e.kind.words().0, "message": e.message, "field": e.field}))
            .collect();
        let mut details = kind_details(group, kind, name);
        details["causes"] = Value::from(causes);
        Self::new(422, message).with(details)
    }

    /// A patch whose JSON is not of the type that Go decodes it to.
    pub(crate) fn undecodable_patch(patch: &Value, wanted: &str) -> Self {
        let of = json_type(patch);
        let why = format!("json: cannot unmarshal {of} into Go value of type {wanted}");
        Self::bad_request(format!("error decoding patch: {why}"))
    }

    pub(crate) fn patch_rejected() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, message).with(json!({}))
    }

    /// The result of a patch cannot be decoded.
    pub(crate) fn undecodable_result(shown: &str, why: &str) -> Self {
        let error = FieldError::invalid("patch", &Value::from(shown), why);
        Self::invalid("", "", "", &[error])
    }

    /// Why an object of a request cannot be decoded.
    pub(crate) fn undecodable(&self) -> Option<&str> {
        let (_, rest) = self.0.message.split_once(" cannot be handled as a ")?;
        let (_, why) = rest.split_once(": ")?;
        (self.0.code == 400).then_some(why)
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, message).with(json!({}))
    }

    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let what =
            "the body of the request was in an unknown format - accepted media types include";
        Self::new(415, format!("{what}: {accepted}"))
    }

    pub(crate) fn not_acceptable_because(why: &str) -> Self {
        Self::new(406, why)
    }

    pub(crate) fn not_acceptable() -> Self {
        Self::new(
            406,
            format!("only the following media types are accepted: {BODY_TYPES}"),
        )
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(413, message).with(json!({}))
    }

    /// The object exceeds the limit of the storage. The API server passes etcd's error on.
    pub(crate) fn too_large_to_store() -> Self {
        Self::unexplained("etcdserver: request is too large")
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized")
    }

    pub(crate) fn too_many_requests() -> Self {
        let message = "Too many requests, please try again later.";
        Self::new(429, message).with(json!({"retryAfterSeconds": 1}))
    }

    /// A watch asks for a revision that is no longer in the watch cache.
    pub(crate) fn expired(asked: u64, oldest: u64) -> Self {
        Self::new(410, format!("too old resource version: {asked} ({oldest})"))
    }

    pub(crate) fn list_expired() -> Self {
        let message = "The resourceVersion for the provided list is too old.";
        Self::new(410, message)
    }

    /// A continue token has expired; with `token` the list can continue at the present revision.
    pub(crate) fn continue_expired(token: String) -> Self {
        let mut error = Self::new(
            410,
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        );
        error.0.continue_token = Some(token);
        error
    }

    /// An error without a reason, as the API server returns for some requests.
    pub(crate) fn unexplained(message: impl Into<String>) -> Self {
        Self::with_reason(500, "", message)
    }

    /// A bug of this server; details are in the log only.
    pub(crate) fn internal() -> Self {
        Self::new(500, "Internal error occurred")
    }

    /// A failure with details for the client, for example of the disk or a webhook.
    pub(crate) fn internal_because(why: &str) -> Self {
        let causes = json!({"causes": [{"message": why}]});
        Self::new(500, format!("Internal error occurred: {why}")).with(causes)
    }

    pub(crate) fn denied(webhook: &str, status: Denial) -> Self {
        let denied = format!("admission webhook {webhook:?} denied the request");
        let reason = status.reason.unwrap_or_default();
        let message = match (status.message.unwrap_or_default().as_str(), reason.as_str()) {
            ("", "") => format!("{denied} without explanation"),
            ("", reason) => format!("{denied}: {reason}"),
            (message, _) => format!("{denied}: {message}"),
        };
        // The code of a denial must be an error.
        let given = status.code.unwrap_or_default().max(400);
        let code = u16::try_from(given).unwrap_or(500);
        let mut error = Self::with_reason(code, reason, message);
        error.0.details = status.details;
        error
    }

    pub(crate) fn out_of_time() -> Self {
        let message = "Timeout: request did not complete within requested timeout";
        Self::new(504, message).with(json!({}))
    }

    /// The requested revision does not exist yet.
    pub(crate) fn version_too_large(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self::new(504, message).with(json!({
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        }))
    }
}

/// The status in the response of an admission webhook that denies a request.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Denial {
    pub(crate) kind: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) code: Option<i64>,
    pub(crate) details: Option<Object>,
}

/// The `Status` of a delete that removed the object.
pub(crate) fn deleted(kind: &Kind, name: &str, uid: &str) -> Value {
    let mut details = resource_details(kind, name);
    details["uid"] = Value::from(uid);
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// The `Status` of a successful request without object.
pub(crate) fn done(code: u16) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code})
}

fn resource_details(kind: &Kind, name: &str) -> Value {
    kind_details(&kind.group, &kind.plural, name)
}

fn kind_details(group: &str, kind: &str, name: &str) -> Value {
    let mut details = json!({});
    for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
        if !value.is_empty() {
            details[key] = Value::from(value);
        }
    }
    details
}
