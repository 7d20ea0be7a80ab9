//! An answer as defects see it: JSON that they may change before the caller reads it.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// How much of the mock's own answers is read.
const LIMIT: usize = 64 << 20;

/// A status, headers and a body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Content,
}

/// A body.
#[derive(Debug)]
pub(super) enum Content {
    Json(Value),
    Other(Bytes),
}

impl Answer {
    pub(super) fn json(status: StatusCode, body: Value) -> Self {
        let media_type = HeaderValue::from_static("application/json");
        Self {
            status,
            headers: HeaderMap::from_iter([(header::CONTENT_TYPE, media_type)]),
            body: Content::Json(body),
        }
    }

    pub(super) fn succ() -> Self {
        Self::json(StatusCode::OK, json!({"status": "Succ", "msg": ""}))
    }

    pub(super) fn fail(message: &str) -> Self {
        Self::json(StatusCode::OK, json!({"status": "Fail", "msg": message}))
    }

    pub(super) fn running(message: &str) -> Self {
        Self::json(StatusCode::OK, json!({"status": "Running", "msg": message}))
    }

    pub(super) fn verdict(succ: bool, message: &str) -> Self {
        Self::json(StatusCode::OK, json!({"succ": succ, "msg": message}))
    }

    pub(super) fn error(status: StatusCode, message: &str) -> Self {
        Self::json(status, json!({ "error": message }))
    }

    /// The way in which a script that falls over is answered for.
    pub(super) fn crash(message: &str) -> Self {
        Self::error(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    pub(super) async fn read(response: Response) -> Self {
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, LIMIT).await.unwrap_or_default();
        let body = match serde_json::from_slice(&body) {
            Ok(json) => Content::Json(json),
            Err(_) => Content::Other(body),
        };
        let mut headers = head.headers;
        headers.remove(header::CONTENT_LENGTH);
        Self {
            status: head.status,
            headers,
            body,
        }
    }

    pub(super) fn object(&self) -> Option<&Map<String, Value>> {
        match &self.body {
            Content::Json(json) => json.as_object(),
            Content::Other(_) => None,
        }
    }

    pub(super) fn object_mut(&mut self) -> Option<&mut Map<String, Value>> {
        match &mut self.body {
            Content::Json(json) => json.as_object_mut(),
            Content::Other(_) => None,
        }
    }

    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        self.object()?.get(field)
    }

    pub(super) fn set(&mut self, field: &str, value: impl Into<Value>) {
        if let Some(object) = self.object_mut() {
            object.insert(field.to_owned(), value.into());
        }
    }

    pub(super) fn remove(&mut self, field: &str) {
        if let Some(object) = self.object_mut() {
            object.remove(field);
        }
    }

    /// Whether it is an operation's answer with this status.
    pub(super) fn says(&self, status: &str) -> bool {
        self.status == StatusCode::OK && self.get("status").is_some_and(|it| it == status)
    }

    pub(super) fn is_succ(&self) -> bool {
        self.says("Succ")
    }

    /// Whether it is a decision's "no".
    pub(super) fn is_refusal(&self) -> bool {
        self.get("succ") == Some(&Value::Bool(false))
    }

    pub(super) fn message(&self) -> &str {
        self.get("msg").and_then(Value::as_str).unwrap_or_default()
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let body = match self.body {
            Content::Json(json) => Body::from(json.to_string()),
            Content::Other(bytes) => Body::from(bytes),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
