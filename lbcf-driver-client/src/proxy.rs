//! HTTP proxies between the client and drivers.

use crate::causes::BoxError;
use ::http::Uri;
use ::http::uri::Scheme;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// The proxies by which drivers with an `https` URL are reached. A proxy passes on what it cannot read; those with an
/// `http` URL are called without one, as it would read their requests, and the token.
#[derive(Debug, Clone, Default)]
pub struct Proxies(Option<Arc<Matcher>>);

impl Proxies {
    /// Those of the environment, as curl reads it: `HTTPS_PROXY` or `ALL_PROXY`, but for the hosts in `NO_PROXY`.
    #[must_use]
    pub fn from_environment() -> Self {
        Self(Some(Arc::new(Matcher::from_env())))
    }

    /// This proxy, but for hosts in a list such as that of `NO_PROXY`.
    #[must_use]
    pub fn new(url: &str, except: &str) -> Self {
        let matcher = Matcher::builder().https(url).no(except).build();
        Self(Some(Arc::new(matcher)))
    }

    /// True if the host of this URL is reached by a proxy.
    #[must_use]
    pub fn lead_to(&self, url: &Uri) -> bool {
        self.intercept(url).is_some()
    }

    fn intercept(&self, url: &Uri) -> Option<Intercept> {
        self.0.as_ref()?.intercept(url)
    }
}

/// Connects by a proxy to the hosts that need one.
#[derive(Clone)]
pub(crate) struct Proxied<C> {
    connector: C,
    proxies: Proxies,
}

impl<C> Proxied<C> {
    pub(crate) const fn new(connector: C, proxies: Proxies) -> Self {
        Self { connector, proxies }
    }
}

impl<C> Service<Uri> for Proxied<C>
where
    C: Service<Uri, Error = BoxError> + Clone,
    C::Future: Send + 'static,
    Tunnel<C>: Service<Uri, Response = C::Response, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.intercept(&uri) else {
            return Box::pin(self.connector.call(uri));
        };
        if proxy.uri().scheme() != Some(&Scheme::HTTP) {
            let scheme = proxy.uri().scheme_str().unwrap_or_default().to_owned();
            return Box::pin(async { Err(Unsupported(scheme).into()) });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.connector.clone());
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        let connecting = tunnel.call(uri);
        let proxy = proxy.uri().clone();
        Box::pin(async move {
            connecting.await.map_err(|error| {
                let (host, source) = (proxy.host().unwrap_or_default(), error.into());
                NoTunnel {
                    proxy: host.to_owned(),
                    source,
                }
                .into()
            })
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the proxy has the scheme {0:?}; supported is \"http\"")]
struct Unsupported(String);

/// The proxy did not connect to the driver.
#[derive(Debug, thiserror::Error)]
#[error("by the proxy {proxy}")]
struct NoTunnel {
    proxy: String,
    #[source]
    source: BoxError,
}
