//! Connecting: a timeout, and TCP for connections that are kept.

use crate::causes::BoxError;
use ::http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use lbcf_serving::client_stream::ClientStream;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// The timeout is over.
#[derive(Debug, thiserror::Error)]
#[error("no connection within {0:?}")]
pub(crate) struct ConnectTimeout(Duration);

/// A connector with a timeout, which covers name resolution, TCP and TLS.
#[derive(Debug, Clone)]
pub(crate) struct Within<C> {
    connector: C,
    limit: Option<Duration>,
}

impl<C> Within<C> {
    pub(crate) const fn new(connector: C, limit: Option<Duration>) -> Self {
        Self { connector, limit }
    }
}

impl<C> Service<Uri> for Within<C>
where
    C: Service<Uri>,
    C::Error: Into<BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.connector.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            let connected = match limit {
                None => connecting.await,
                Some(limit) => tokio::time::timeout(limit, connecting)
                    .await
                    .map_err(|_| ConnectTimeout(limit))?,
            };
            connected.map_err(Into::into)
        })
    }
}

/// TCP without delay: requests are small, and waiting to fill a packet would only slow them down.
#[derive(Debug, Clone)]
pub(crate) struct Tcp(HttpConnector);

impl Tcp {
    pub(crate) fn new() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        // It serves https, too.
        connector.enforce_http(false);
        Self(connector)
    }
}

impl Service<Uri> for Tcp {
    type Response = TokioIo<ClientStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { Ok(TokioIo::new(connecting.await?.into_inner().into())) })
    }
}
