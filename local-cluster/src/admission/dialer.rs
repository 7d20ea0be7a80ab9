//! Connects to webhooks, and resolves the services that they are behind.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tower::Service;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct DialError(pub(super) String);

/// The addresses of services: this cluster has no service network.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceResolver(Arc<RwLock<BTreeMap<String, String>>>);

impl ServiceResolver {
    pub(super) fn new(services: BTreeMap<String, String>) -> Self {
        Self(Arc::new(RwLock::new(services)))
    }

    pub(super) fn set(&self, service: String, address: String) {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(service, address);
    }

    /// The address behind a URL.
    fn address(&self, uri: &Uri) -> Result<String, DialError> {
        let host = uri.host().unwrap_or_default();
        if !host.ends_with(".svc") {
            return Ok(format!("{host}:{}", uri.port_u16().unwrap_or(443)));
        }
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(host).cloned().ok_or_else(|| {
            DialError(format!(
                "dial tcp: service {host:?} has no address: this cluster has no service network, so LocalClusterOptions::service_addresses must contain its address"
            ))
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Dialer(pub(super) ServiceResolver);

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = DialError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, DialError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let address = self.0.address(&uri);
        Box::pin(async move { dial(&address?).await.map(TokioIo::new) })
    }
}

async fn dial(address: &str) -> Result<TcpStream, DialError> {
    let nowhere = || DialError(format!("dial tcp: lookup {address}: no such host"));
    let mut failed = None;
    for address in lookup_host(address).await.map_err(|_| nowhere())? {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "cannot set TCP_NODELAY on a connection to a webhook");
                }
                return Ok(stream);
            }
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::ConnectionRefused => "connection refused".to_owned(),
                    _ => error.to_string(),
                };
                failed = Some(DialError(format!("dial tcp {address}: connect: {why}")));
            }
        }
    }
    Err(failed.unwrap_or_else(nowhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<String, DialError> {
        let known = [("a.b.svc".to_owned(), "127.0.0.1:9".to_owned())];
        ServiceResolver::new(known.into_iter().collect()).address(&url.parse().unwrap())
    }

    #[test]
    fn services_are_looked_up_and_hosts_taken_as_they_are() {
        assert_eq!(address("https://a.b.svc:443/x").unwrap(), "127.0.0.1:9");
        assert_eq!(address("https://h/x").unwrap(), "h:443");
        assert_eq!(address("https://[::1]:8443/").unwrap(), "[::1]:8443");
        let unknown = address("https://c.b.svc:443/").unwrap_err();
        assert!(
            unknown.0.contains("service \"c.b.svc\" has no address"),
            "{unknown}"
        );
    }

    #[tokio::test]
    async fn errors_name_the_address() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let refused = dial(&address.to_string()).await.unwrap_err();
        assert_eq!(
            refused.0,
            format!("dial tcp {address}: connect: connection refused")
        );
        assert!(
            dial("no port")
                .await
                .unwrap_err()
                .0
                .contains("no such host")
        );
    }
}
