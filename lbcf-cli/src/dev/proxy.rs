//! A proxy in front of the driver, which sees each call and its response.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use lbcf_driver_sdk::client::{CallError, DriverClient, InvalidUrl};
use mock_driver::{RecordedCalls, record_calls};
use serde_json::json;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The limit of a request, in bytes: a controller sends whole pods.
const LONGEST: usize = 32 << 20;
/// Longer than any webhook may take.
const TIMEOUT: Duration = Duration::from_secs(65);

/// The proxy, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    /// Where the controller calls it.
    pub(super) url: String,
    pub(super) calls: RecordedCalls,
    _server: JoinSet<std::io::Result<()>>,
}

impl Proxy {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// The driver's URL is invalid, or no port is free.
    pub(super) async fn start(driver_url: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let driver = DriverClient::new(driver_url)
            .map_err(|error: InvalidUrl| format!("--driver-url {driver_url}: {error}"))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let webhooks = Router::new()
            .route("/{webhook}", post(forward))
            .layer(DefaultBodyLimit::max(LONGEST))
            .with_state(driver);
        let (webhooks, calls) = record_calls(webhooks);
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, webhooks).await });
        Ok(Self {
            url,
            calls,
            _server: server,
        })
    }
}

async fn forward(
    State(driver): State<DriverClient>,
    Path(webhook): Path<String>,
    body: Bytes,
) -> Response {
    match driver.raw_call_within(&webhook, body, TIMEOUT).await {
        Ok(response) => {
            let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, response.body).into_response()
        }
        Err(error) => unreachable(&error),
    }
}

fn unreachable(error: &CallError) -> Response {
    let body = json!({"error": error.to_string()}).to_string();
    (StatusCode::BAD_GATEWAY, body).into_response()
}
