//! A proxy in front of the driver, which sees each call and its response.

use crate::local_server::serve;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use lbcf_driver_client::{DriverClient, InvalidUrl};
use lbcf_serving::listener::Listener;
use mock_driver::{RecordedCalls, record_calls};
use serde_json::json;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The limit of a request, in bytes: a controller sends whole pods.
const LONGEST: usize = 32 << 20;
/// The status of a call that has no connection to the driver.
pub(super) const UNREACHABLE: StatusCode = StatusCode::BAD_GATEWAY;
/// Longer than any webhook may take.
const TIMEOUT: Duration = Duration::from_secs(65);

/// The proxy, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    /// Where the controller calls it.
    pub(super) url: String,
    pub(super) calls: RecordedCalls,
    pub(super) driver: ProxiedDriver,
    _server: JoinSet<()>,
}

impl Proxy {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// The driver's URL is invalid, or no port is free.
    pub(super) async fn start(driver_url: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let driver = ProxiedDriver::at(driver_url)
            .map_err(|error| format!("--driver-url {driver_url}: {error}"))?;
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
        let url = format!("http://{}", listener.addr());
        let webhooks = Router::new()
            .route("/{webhook}", post(forward))
            .layer(DefaultBodyLimit::max(LONGEST))
            .with_state(driver.clone());
        let (webhooks, calls) = record_calls(webhooks);
        Ok(Self {
            url,
            calls,
            driver,
            _server: serve(listener, webhooks),
        })
    }
}

/// The client of the driver; clones are the same.
#[derive(Debug, Clone)]
pub(super) struct ProxiedDriver {
    url: String,
    client: Arc<Mutex<DriverClient>>,
}

impl ProxiedDriver {
    fn at(url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self {
            url: url.to_owned(),
            client: Arc::new(Mutex::new(DriverClient::new(url)?)),
        })
    }

    /// After a restart of the driver: no call goes over a connection to the earlier process.
    pub(super) fn restarted(&self) {
        if let Ok(client) = DriverClient::new(&self.url) {
            *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client;
        }
    }

    fn client(&self) -> DriverClient {
        let client = self.client.lock();
        client.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn forward(
    State(driver): State<ProxiedDriver>,
    Path(webhook): Path<String>,
    body: Bytes,
) -> Response {
    let driver = driver.client();
    match driver.raw_call_within(&webhook, body, TIMEOUT).await {
        Ok(response) => {
            let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, response.body).into_response()
        }
        Err(why) if why.is_connect() => error(UNREACHABLE, why.to_string()),
        Err(why) => error(StatusCode::GATEWAY_TIMEOUT, why.to_string()),
    }
}

fn error(status: StatusCode, why: String) -> Response {
    (status, json!({"error": why}).to_string()).into_response()
}
