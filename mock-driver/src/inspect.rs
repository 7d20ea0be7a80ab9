//! The mock's own endpoints under `/_mock`: what the cloud holds and which calls came, and what
//! can happen to a cloud and a driver from outside. They never mix with webhooks, and a webhook
//! has no path that begins like that.

mod body;
mod by_hand;
mod fault;

use crate::cloud::Cloud;
use crate::process::Process;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get, post};
use serde::{Deserialize, Serialize};

/// What there is, for those who ask for something else.
const ENDPOINTS: &str = "under /_mock the mock has GET state, GET observe, GET requests, GET fault, \
     POST reset, POST observe/foreign, POST observe/unbind, POST observe/attributes, POST fault \
     and POST restart";

/// The endpoints, without their prefix.
pub(crate) fn router(cloud: Cloud, process: Process) -> Router {
    Router::new()
        .route("/state", get(state))
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
) -> Result<Response, Refused> {
    let Query(filter) =
        filter.map_err(|rejection| Refused::new(rejection.status(), rejection.body_text()))?;
    let mut entries = cloud.call_log().entries();
    entries.retain(|entry| {
        let is = |wanted: &Option<String>, value: &String| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        entry.sequence > filter.since
            && is(&filter.webhook, &entry.webhook)
            && is(&filter.record_id, &entry.record_id)
    });
    let requests = serde_json::json!({ "requests": entries, "counts": cloud.calls() });
    Ok(pretty(StatusCode::OK, &requests))
}

/// Puts the cloud back to its start, ends an outage, and shows what there is.
async fn reset(State(cloud): State<Cloud>) -> Response {
    cloud.reset();
    pretty(StatusCode::OK, &cloud.state())
}

/// Kills the driver and starts it again; answers when the new one serves.
async fn restart(State(process): State<Process>) -> Result<Response, Refused> {
    // On its own: who asked may hang up, and half a restart is none.
    let restarted = tokio::spawn(async move { process.restart().await }).await;
    let broken_off = |error: tokio::task::JoinError| {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    };
    Ok(pretty(StatusCode::OK, &restarted.map_err(broken_off)?))
}

async fn not_found(uri: Uri) -> Refused {
    Refused::new(StatusCode::NOT_FOUND, format!("{uri}: {ENDPOINTS}"))
}

async fn wrong_method(method: Method, uri: Uri) -> Refused {
    let message = format!("{method} {uri}: {ENDPOINTS}");
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

/// An error as it is answered.
#[derive(Debug)]
struct Refused {
    status: StatusCode,
    message: String,
}

impl Refused {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        pretty(self.status, &serde_json::json!({ "error": self.message }))
    }
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
