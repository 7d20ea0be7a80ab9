//! Connecting: a timeout, the addresses that may be connected to, and TCP for connections that are kept.

use crate::causes::BoxError;
use ::http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::rt::TokioIo;
use lbcf_serving::client_stream::{ClientStream, localhost};
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
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

/// Why no address of a host may be connected to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AddressRefused(String);

/// Decides by scheme and address whether a client may connect.
pub(crate) type AddressCheck = Arc<dyn Fn(&str, IpAddr) -> Result<(), String> + Send + Sync>;

/// Resolves a name to those of its addresses that may be connected to.
#[derive(Clone)]
struct Resolver {
    system: GaiResolver,
    scheme: &'static str,
    addresses: AddressCheck,
}

impl Resolver {
    fn check(&self, address: IpAddr) -> Result<(), AddressRefused> {
        (self.addresses)(self.scheme, address).map_err(AddressRefused)
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.system.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let is_local = name.as_str() == "localhost";
        let resolving = self.system.call(name);
        let resolver = self.clone();
        Box::pin(async move {
            let mut allowed = Vec::new();
            let mut refused = None;
            let found: Vec<_> = match is_local {
                true => localhost(0).into(),
                false => resolving.await?.collect(),
            };
            for address in found {
                match resolver.check(address.ip()) {
                    Ok(()) => allowed.push(address),
                    Err(error) => refused = Some(error),
                }
            }
            match refused {
                Some(error) if allowed.is_empty() => Err(error.into()),
                _ => Ok(allowed.into_iter()),
            }
        })
    }
}

/// TCP without delay: requests are small, and waiting to fill a packet would only slow them down.
#[derive(Clone)]
pub(crate) struct Tcp {
    connector: HttpConnector<Resolver>,
    resolver: Resolver,
}

impl Tcp {
    pub(crate) fn new(scheme: &'static str, addresses: AddressCheck) -> Self {
        let resolver = Resolver {
            system: GaiResolver::new(),
            scheme,
            addresses,
        };
        let mut connector = HttpConnector::new_with_resolver(resolver.clone());
        connector.set_nodelay(true);
        // It serves https, too.
        connector.enforce_http(false);
        Self {
            connector,
            resolver,
        }
    }

    /// Checks a host that is an address, which is not resolved.
    fn check_literal(&self, uri: &Uri) -> Result<(), AddressRefused> {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        host.parse()
            .map_or(Ok(()), |address| self.resolver.check(address))
    }
}

impl Service<Uri> for Tcp {
    type Response = TokioIo<ClientStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let literal = self.check_literal(&uri);
        let connecting = self.connector.call(uri);
        Box::pin(async move {
            literal?;
            Ok(TokioIo::new(connecting.await?.into_inner().into()))
        })
    }
}
