//! The mock's own endpoints under `/_mock`: the state of the cloud, the webhook calls, and what can
//! happen to a cloud and a driver from outside. No webhook has a path with that prefix.

mod body;
mod by_hand;
mod clock;
mod creations;
mod differences;
mod fault;
mod faults;
mod load_balancers;
mod openapi;
mod requests;

use crate::cloud::Cloud;
use crate::differences::ClusterReader;
use crate::journal::CallQuery;
use crate::process::DriverProcess;
use crate::strict::{self, with_suggestion};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, delete, get, post};
use serde::Serialize;
use std::sync::Arc;

/// The endpoints, without their prefix.
pub(crate) fn router(
    cloud: Cloud,
    process: DriverProcess,
    cluster: Option<Arc<dyn ClusterReader>>,
) -> Router {
    let compared = (cloud.clone(), cluster);
    Router::new()
        .route(
            "/state",
            get(state)
                .put(restore)
                .layer(DefaultBodyLimit::max(body::LONGEST)),
        )
        .route("/loadbalancers", get(load_balancers::list))
        .route(
            "/loadbalancers/{id}",
            get(load_balancers::show).delete(reset_load_balancer),
        )
        .route("/differences", get(differences::list).with_state(compared))
        .route("/observe", get(observe))
        .route("/observe/foreign", post(by_hand::foreign))
        .route("/observe/unbind", post(by_hand::unbind))
        .route("/observe/attributes", post(by_hand::attributes))
        .route("/requests", get(requests::list))
        .route("/requests/{number}", get(requests::one))
        .route("/requests/wait", get(requests::wait))
        .route("/requests/stream", get(requests::follow))
        .route("/requests/export", get(requests::export))
        .route(
            "/faults",
            get(faults::show)
                .post(faults::add)
                .put(faults::replace)
                .delete(faults::clear)
                .layer(DefaultBodyLimit::max(body::LONG_LIMIT)),
        )
        .route("/faults/{id}", delete(faults::remove))
        .route("/creations/release", post(creations::release))
        .route(
            "/openapi.json",
            get(async || pretty(StatusCode::OK, &openapi::document())),
        )
        .route("/clock", get(clock::show))
        .route("/clock/advance", post(clock::advance))
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

/// Replaces everything that the cloud holds.
async fn restore(State(cloud): State<Cloud>, request: Request) -> Result<Response, EndpointError> {
    let wrong = |problem| EndpointError::new(StatusCode::BAD_REQUEST, problem);
    let given = strict::read(body::document(request).await?).map_err(wrong)?;
    cloud.restore(&given).map_err(wrong)?;
    Ok(state(State(cloud)).await)
}

/// Restores the initial state of one instance.
async fn reset_load_balancer(
    State(cloud): State<Cloud>,
    Path(id): Path<String>,
) -> Result<Response, EndpointError> {
    if !cloud.reset_load_balancer(&id) {
        let message = format!("{id:?}: there is no load balancer with this id");
        return Err(EndpointError::new(StatusCode::NOT_FOUND, message));
    }
    Ok(state(State(cloud)).await)
}

async fn observe(State(cloud): State<Cloud>) -> Response {
    pretty(StatusCode::OK, &cloud.observe())
}

/// The query of the endpoints about calls.
fn query(request: &Request) -> Result<CallQuery, EndpointError> {
    Query::try_from_uri(request.uri())
        .map(|Query(query)| query)
        .map_err(|rejection| {
            let message = with_suggestion(&rejection.body_text());
            EndpointError::new(rejection.status(), message)
        })
}

/// Restores the initial state of the cloud and the fault rules of the start, ends an outage, and
/// returns the state.
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
    EndpointError::new(StatusCode::NOT_FOUND, format!("{uri}: {}", endpoints()))
}

async fn wrong_method(method: Method, uri: Uri) -> EndpointError {
    let message = format!("{method} {uri}: {}", endpoints());
    EndpointError::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

fn endpoints() -> String {
    let listed = openapi::ENDPOINTS
        .iter()
        .map(|endpoint| format!("{} {}", endpoint.method, endpoint.path));
    format!(
        "under /_mock the mock has {}",
        Vec::from_iter(listed).join(", ")
    )
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
