//! Errors, with the codes, reasons and messages of the Kubernetes API.
//!
//! Clients decide by `reason` and `code`, users read `message`, and kubectl prints `details.causes`; so
//! every error of a request is an [`ApiError`], and each kind of error has one constructor here. The
//! rules return it too, and HTTP only renders it.

mod objects;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use crate::field_error::FieldError;
use crate::object::{Object, object};
use crate::resources::Kind;

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
    fn new(code: u16, reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self(Box::new(StatusFields {
            code,
            reason: reason.into(),
            message: message.into(),
            details: None,
            continue_token: None,
            warnings: Vec::new(),
        }))
    }

    fn with(mut self, details: Value) -> Self {
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
        let message = format!("{} \"{name}\" is invalid: {what}", qualified(kind, group));
        let causes: Vec<Value> = errors
            .iter()
            .map(|e| json!({"reason": e.kind.words().0, "message": e.message, "field": e.field}))
            .collect();
        let mut details = object(kind_details(group, kind, name));
        details.retain(|_, value| *value != "");
        details.insert("causes".to_owned(), Value::from(causes));
        Self::new(422, "Invalid", message).with(Value::Object(details))
    }

    pub(crate) fn patch_rejected() -> Self {
        Self::new(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        )
        .with(json!({}))
    }

    /// The result of a patch has unknown fields.
    pub(crate) fn unknown_in_patch(shown: &str, why: &str) -> Self {
        let error = FieldError::invalid(
            "patch",
            &Value::from(shown),
            &format!("strict decoding error: {why}"),
        );
        let mut invalid = Self::invalid("", "", "", &[error]);
        if let Some(details) = &mut invalid.0.details {
            details.remove("kind");
        }
        invalid
    }

    /// The unknown fields in the message of a strict decoding error.
    pub(crate) fn unknown(&self) -> Option<&str> {
        let (_, unknown) = self.0.message.split_once(": strict decoding error: ")?;
        (self.0.code == 400).then_some(unknown)
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with(json!({}))
    }

    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        Self::new(
            415,
            "UnsupportedMediaType",
            format!(
                "the body of the request was in an unknown format - accepted media types include: {accepted}"
            ),
        )
    }

    pub(crate) fn not_acceptable_because(why: &str) -> Self {
        Self::new(406, "NotAcceptable", why)
    }

    pub(crate) fn not_acceptable() -> Self {
        Self::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        )
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {limit}"),
        )
        .with(json!({}))
    }

    /// The object exceeds the limit of the storage. The API server passes etcd's error on.
    pub(crate) fn too_large_to_store() -> Self {
        Self::unexplained("etcdserver: request is too large")
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn too_many_requests() -> Self {
        Self::new(
            429,
            "TooManyRequests",
            "Too many requests, please try again later.",
        )
        .with(json!({"retryAfterSeconds": 1}))
    }

    /// A watch asks for a revision that is no longer in the watch cache.
    pub(crate) fn expired(asked: u64, oldest: u64) -> Self {
        Self::new(
            410,
            "Expired",
            format!("too old resource version: {asked} ({oldest})"),
        )
    }

    pub(crate) fn list_expired() -> Self {
        Self::new(
            410,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        )
    }

    /// A continue token has expired; with `token` the list can continue at the present revision.
    pub(crate) fn continue_expired(token: String) -> Self {
        let mut error = Self::new(
            410,
            "Expired",
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        );
        error.0.continue_token = Some(token);
        error
    }

    /// An error without a reason, as the API server returns for some requests.
    pub(crate) fn unexplained(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// A bug of this server; details are in the log only.
    pub(crate) fn internal() -> Self {
        Self::new(500, "InternalError", "Internal error occurred")
    }

    /// A failure with details for the client, for example of the disk or a webhook.
    pub(crate) fn internal_because(why: &str) -> Self {
        Self::new(
            500,
            "InternalError",
            format!("Internal error occurred: {why}"),
        )
        .with(json!({"causes": [{"message": why}]}))
    }

    pub(crate) fn denied(webhook: &str, status: &Denial) -> Self {
        let denied = format!("admission webhook {webhook:?} denied the request");
        let message = match (status.message.as_str(), status.reason.as_str()) {
            ("", "") => format!("{denied} without explanation"),
            ("", reason) => format!("{denied}: {reason}"),
            (message, _) => format!("{denied}: {message}"),
        };
        // The code of a denial must be an error.
        let code = match u16::try_from(status.code) {
            Ok(code) => code.max(400),
            Err(_) if status.code < 0 => 400,
            Err(_) => 500,
        };
        let mut error = Self::new(code, status.reason.clone(), message);
        error.0.details.clone_from(&status.details);
        error
    }

    pub(crate) fn out_of_time() -> Self {
        Self::new(
            504,
            "Timeout",
            "Timeout: request did not complete within requested timeout",
        )
        .with(json!({}))
    }

    /// The requested revision does not exist yet.
    pub(crate) fn version_too_large(asked: u64, current: u64) -> Self {
        Self::new(
            504,
            "Timeout",
            format!("Timeout: Too large resource version: {asked}, current: {current}"),
        )
        .with(json!({
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        }))
    }
}

/// The status in the response of an admission webhook that denies a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Denial {
    pub(crate) message: String,
    pub(crate) reason: String,
    pub(crate) code: i64,
    pub(crate) details: Option<Object>,
}

/// The `Status` of a delete that removed the object.
pub(crate) fn deleted(kind: &Kind, name: &str, uid: &str) -> Value {
    let mut details = object(resource_details(kind, name));
    details.insert("uid".to_owned(), Value::from(uid));
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// The `Status` of a successful request without object.
pub(crate) fn done(code: u16) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code})
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

fn resource_details(kind: &Kind, name: &str) -> Value {
    kind_details(&kind.group, &kind.plural, name)
}

fn kind_details(group: &str, kind: &str, name: &str) -> Value {
    let mut details = Object::new();
    if !name.is_empty() {
        details.insert("name".to_owned(), Value::from(name));
    }
    if !group.is_empty() {
        details.insert("group".to_owned(), Value::from(group));
    }
    details.insert("kind".to_owned(), Value::from(kind));
    Value::Object(details)
}
