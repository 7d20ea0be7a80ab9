//! The mock's own endpoints under `/_mock`: the state of the cloud, the webhook calls, and what can
//! happen to a cloud and a driver from outside. No webhook has a path with that prefix.

mod body;
mod by_hand;
mod fault;
mod load_balancers;

use crate::cloud::Cloud;
use crate::process::DriverProcess;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get, post};
use serde::{Deserialize, Serialize};

/// Part of the error for any other path or method.
const ENDPOINTS: &str = "under /_mock the mock has GET state, GET loadbalancers, GET observe, GET requests, GET fault, \
     POST reset, POST observe/foreign, POST observe/unbind, POST observe/attributes, POST fault \
     and POST restart";

/// The endpoints, without their prefix.
pub(crate) fn router(cloud: Cloud, process: DriverProcess) -> Router {
    Router::new()
        .route("/state", get(state))
        .route("/loadbalancers", get(load_balancers::list))
        .route("/loadbalancers/{id}", get(load_balancers::show))
        .route("/observe", get(observe))
        .route("/observe/foreign", post(by_hand::foreign))
        .route("/observe/unbind", post(by_hand::unbind))
        .route("/observe/attributes", post(by_hand::attributes))
        .route("/requests", get(requests))
        .route("/reset", post(reset))
        .route("/fault", get(fault::show).post(fault::set))
        .route("/restart", post(restart).with_state(process))
        .method_not_allowed_fallback(wrong_method)
        .fallback(not_found)
        .layer(DefaultBodyLimit::max(body::LIMIT))
        .with_state(cloud)
}

async fn state(State(cloud): State<Cloud>) -> Response {
    pretty(StatusCode::OK, &cloud.state())
}

async fn observe(State(cloud): State<Cloud>) -> Response {
    pretty(StatusCode::OK, &cloud.observe())
}

/// Which calls to show.
#[derive(Debug, Default, Deserialize)]
struct CallFilter {
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
    filter: Result<Query<CallFilter>, QueryRejection>,
) -> Result<Response, EndpointError> {
    let Query(filter) = filter
        .map_err(|rejection| EndpointError::new(rejection.status(), rejection.body_text()))?;
    let mut entries = cloud.call_log().entries();
    entries.retain(|entry| {
        let is = |expected: &Option<String>, value: &String| {
            expected.as_ref().is_none_or(|expected| expected == value)
        };
        entry.sequence > filter.since
            && is(&filter.webhook, &entry.webhook)
            && is(&filter.record_id, &entry.record_id)
    });
    let requests = serde_json::json!({ "requests": entries, "counts": cloud.calls() });
    Ok(pretty(StatusCode::OK, &requests))
}

/// Restores the initial state of the cloud, ends an outage, and returns the state.
async fn reset(State(cloud): State<Cloud>) -> Response {
    cloud.reset();
    pretty(StatusCode::OK, &cloud.state())
}

/// Kills the driver and starts it again; responds when the new one serves.
async fn restart(State(process): State<DriverProcess>) -> Result<Response, EndpointError> {
    // Detached, so that the restart completes even if the client disconnects.
    let restarted = tokio::spawn(async move { process.restart().await }).await;
    let panicked = |error: tokio::task::JoinError| {
        EndpointError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    };
    Ok(pretty(StatusCode::OK, &restarted.map_err(panicked)?))
}

async fn not_found(uri: Uri) -> EndpointError {
    EndpointError::new(StatusCode::NOT_FOUND, format!("{uri}: {ENDPOINTS}"))
}

async fn wrong_method(method: Method, uri: Uri) -> EndpointError {
    let message = format!("{method} {uri}: {ENDPOINTS}");
    EndpointError::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

#[derive(Debug)]
struct EndpointError {
    status: StatusCode,
    message: String,
}

impl EndpointError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }
}

impl IntoResponse for EndpointError {
    fn into_response(self) -> Response {
        pretty(self.status, &serde_json::json!({ "error": self.message }))
    }
}

/// JSON with line breaks, for users.
fn pretty(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, text + "\n").into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
