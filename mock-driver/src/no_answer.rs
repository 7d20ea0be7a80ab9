//! Calls that get no response.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Marks a response that no client receives: the server ends the connection instead of sending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    Close,
    Reset,
}

impl NoAnswer {
    /// The response for callers without a connection, such as tests of the router: that of a proxy
    /// whose backend is gone.
    pub(crate) fn response(self, why: &str) -> Response {
        let message = serde_json::json!({ "error": why });
        let json = [("content-type", "application/json")];
        let mut response = (StatusCode::BAD_GATEWAY, json, message.to_string()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}
