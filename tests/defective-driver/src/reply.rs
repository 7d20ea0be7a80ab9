//! A reply on its way to the caller: JSON that defects may change.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

/// The largest body of the mock that is read, in bytes.
const LIMIT: usize = 64 << 20;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ReplyBody,
}

#[derive(Debug)]
pub(crate) enum ReplyBody {
    Json(Value),
    Other(Bytes),
}

impl Reply {
    pub(crate) fn json(status: StatusCode, body: Value) -> Self {
        let media_type = HeaderValue::from_static("application/json");
        Self {
            status,
            headers: HeaderMap::from_iter([(header::CONTENT_TYPE, media_type)]),
            body: ReplyBody::Json(body),
        }
    }

    pub(crate) fn succ() -> Self {
        Self::json(StatusCode::OK, json!({"status": "Succ", "msg": ""}))
    }

    pub(crate) fn fail(message: &str) -> Self {
        Self::json(StatusCode::OK, json!({"status": "Fail", "msg": message}))
    }

    pub(crate) fn running(message: &str) -> Self {
        Self::json(StatusCode::OK, json!({"status": "Running", "msg": message}))
    }

    pub(crate) fn verdict(succ: bool, message: &str) -> Self {
        Self::json(StatusCode::OK, json!({"succ": succ, "msg": message}))
    }

    pub(crate) fn error(status: StatusCode, message: &str) -> Self {
        Self::json(status, json!({ "error": message }))
    }

    /// The reply of a server whose handler has thrown an exception.
    pub(crate) fn crash(message: &str) -> Self {
        Self::error(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    pub(crate) async fn read(response: Response) -> Self {
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, LIMIT).await.unwrap_or_default();
        let body = match serde_json::from_slice(&body) {
            Ok(json) => ReplyBody::Json(json),
            Err(_) => ReplyBody::Other(body),
        };
        let mut headers = head.headers;
        headers.remove(header::CONTENT_LENGTH);
        Self {
            status: head.status,
            headers,
            body,
        }
    }

    pub(crate) fn object(&self) -> Option<&Map<String, Value>> {
        match &self.body {
            ReplyBody::Json(json) => json.as_object(),
            ReplyBody::Other(_) => None,
        }
    }

    pub(crate) fn object_mut(&mut self) -> Option<&mut Map<String, Value>> {
        match &mut self.body {
            ReplyBody::Json(json) => json.as_object_mut(),
            ReplyBody::Other(_) => None,
        }
    }

    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.object()?.get(field)
    }

    pub(crate) fn set(&mut self, field: &str, value: impl Into<Value>) {
        if let Some(object) = self.object_mut() {
            object.insert(field.to_owned(), value.into());
        }
    }

    pub(crate) fn remove(&mut self, field: &str) {
        if let Some(object) = self.object_mut() {
            object.remove(field);
        }
    }

    /// Whether it is an operation's reply with this status.
    pub(crate) fn has_status(&self, status: &str) -> bool {
        self.status == StatusCode::OK && self.get("status").is_some_and(|it| it == status)
    }

    pub(crate) fn is_succ(&self) -> bool {
        self.has_status("Succ")
    }

    /// Whether a webhook that decides has rejected the request.
    pub(crate) fn is_rejection(&self) -> bool {
        self.get("succ") == Some(&Value::Bool(false))
    }

    pub(crate) fn message(&self) -> &str {
        self.get("msg").and_then(Value::as_str).unwrap_or_default()
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let body = match self.body {
            ReplyBody::Json(json) => Body::from(json.to_string()),
            ReplyBody::Other(bytes) => Body::from(bytes),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
