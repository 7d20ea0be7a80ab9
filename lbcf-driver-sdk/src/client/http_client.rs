//! Connections to drivers, pooled.

use super::{Body, CallError, unreachable};
use ::http::uri::Scheme;
use ::http::{Request, Response};
use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::OnceCell;

/// Servers close idle connections after a while, Node's after 5 s. A request that is written at
/// that very moment fails, so ours are given up before.
const IDLE: Duration = Duration::from_secs(4);

/// A pool of HTTP/1 connections that clients for many drivers may share. Clones are the same pool.
#[derive(Clone)]
pub struct HttpClient {
    plain: Client<HttpConnector, Full<Bytes>>,
    tls: Arc<OnceLock<Client<HttpsConnector<HttpConnector>, Full<Bytes>>>>,
}

impl HttpClient {
    /// An empty pool. Root certificates are not read before the first `https` call.
    #[must_use]
    pub fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self {
            plain: pooled(connector),
            tls: Arc::default(),
        }
    }

    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Body>, CallError> {
        let response = if request.uri().scheme() == Some(&Scheme::HTTPS) {
            let connector = tls_connector().await?;
            self.tls
                .get_or_init(|| pooled(connector))
                .request(request)
                .await
        } else {
            self.plain.request(request).await
        };
        response.map_err(unreachable)
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

fn pooled<C>(connector: C) -> Client<C, Full<Bytes>>
where
    C: hyper_util::client::legacy::connect::Connect + Clone,
{
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        // A connection that turns out to be closed before anything was sent on it: try another.
        .retry_canceled_requests(true)
        .build(connector)
}

/// Reading the system's certificates takes many milliseconds of file access, so it is done once
/// in a process, and only where `https` is spoken.
async fn tls_connector() -> Result<HttpsConnector<HttpConnector>, CallError> {
    static CONNECTOR: OnceCell<Result<HttpsConnector<HttpConnector>, String>> =
        OnceCell::const_new();
    let connector = CONNECTOR
        .get_or_init(|| async {
            tokio::task::spawn_blocking(build_tls_connector)
                .await
                .unwrap_or_else(|error| Err(error.to_string()))
        })
        .await;
    connector.clone().map_err(unreachable)
}

fn build_tls_connector() -> Result<HttpsConnector<HttpConnector>, String> {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.enforce_http(false);
    let builder = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| format!("the system's root certificates cannot be read: {error}"))?;
    Ok(builder.https_or_http().enable_http1().wrap_connector(http))
}
