//! The mock's own endpoints under `/_mock`: what the cloud holds and which calls came. They never
//! mix with webhooks, and a webhook has no path that begins like that.

use crate::cloud::Cloud;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get, post};
use serde::{Deserialize, Serialize};

/// The endpoints, without their prefix.
pub(crate) fn router(cloud: Cloud) -> Router {
    Router::new()
        .route("/state", get(state))
        .route("/observe", get(observe))
        .route("/requests", get(requests))
        .route("/reset", post(reset))
        .method_not_allowed_fallback(wrong_method)
        .fallback(not_found)
        .with_state(cloud)
}

/// Everything that the cloud holds.
async fn state(State(cloud): State<Cloud>) -> Response {
    pretty(StatusCode::OK, &cloud.state())
}

/// The cloud as LBCF sees it.
async fn observe(State(cloud): State<Cloud>) -> Response {
    pretty(StatusCode::OK, &cloud.observe())
}

/// Which calls to show.
#[derive(Debug, Default, Deserialize)]
struct Filter {
    webhook: Option<String>,
    #[serde(rename = "recordID")]
    record_id: Option<String>,
    /// Only calls after the one with this sequence number.
    #[serde(default)]
    since: u64,
}

/// The last webhook calls, oldest first.
async fn requests(
    State(cloud): State<Cloud>,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Response {
    let Query(filter) = match filter {
        Ok(filter) => filter,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let mut entries = cloud.call_log().entries();
    entries.retain(|entry| {
        let is = |wanted: &Option<String>, value: &String| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        entry.sequence > filter.since
            && is(&filter.webhook, &entry.webhook)
            && is(&filter.record_id, &entry.record_id)
    });
    pretty(
        StatusCode::OK,
        &serde_json::json!({ "requests": entries, "counts": cloud.calls() }),
    )
}

/// Puts the cloud back to its start, and shows it.
async fn reset(State(cloud): State<Cloud>) -> Response {
    cloud.reset();
    pretty(StatusCode::OK, &cloud.state())
}

async fn not_found(uri: Uri) -> Response {
    let message = format!(
        "{uri}: the mock has GET state, GET observe, GET requests and POST reset under /_mock"
    );
    error(StatusCode::NOT_FOUND, &message)
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    error(
        StatusCode::METHOD_NOT_ALLOWED,
        &format!("{method} {uri}: reset is called with POST, everything else with GET"),
    )
}

fn error(status: StatusCode, message: &str) -> Response {
    pretty(status, &serde_json::json!({ "error": message }))
}

/// JSON as people read it.
fn pretty(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, text + "\n").into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
