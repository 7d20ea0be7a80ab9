//! The HTTP client of the exporter.

use crate::tls::ClientTls;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{HttpClient, HttpError};
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// The exporter does not limit the time of a call.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most that is read of a response, in bytes.
const RESPONSE: usize = 64 * 1024;

/// Calls run on the exporter's thread, on a runtime of their own: that of the process may have ended.
pub(super) struct CollectorClient<C> {
    runtime: Runtime,
    client: Client<C, Full<Bytes>>,
}

/// For a collector with an https URL, whose certificate the system's roots have signed.
pub(super) fn https() -> io::Result<HttpsConnector<HttpConnector>> {
    let tls = ClientTls::default().config(&[]).map_err(io::Error::other)?;
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls);
    Ok(connector.https_only().enable_http1().build())
}

impl<C: Connect + Clone> CollectorClient<C> {
    pub(super) fn new(connector: C) -> io::Result<Self> {
        // The runtime runs during calls only, so that it would not notice that an idle connection is closed.
        let mut client = Client::builder(TokioExecutor::new());
        let client = client.pool_max_idle_per_host(0).build(connector);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, client })
    }
}

impl<C> Debug for CollectorClient<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CollectorClient")
    }
}

#[async_trait::async_trait]
impl<C: Connect + Clone + Send + Sync + 'static> HttpClient for CollectorClient<C> {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let call = async {
            let response = self.client.request(request.map(Full::new)).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, RESPONSE).collect().await?.to_bytes();
            Ok(Response::from_parts(head, body))
        };
        self.runtime
            .block_on(async { timeout(TIMEOUT, call).await? })
    }
}
