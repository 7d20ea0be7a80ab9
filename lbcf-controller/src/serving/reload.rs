//! The certificate that is served, which can change while connections come in.

use super::server_certificate::ServerCertificate;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use tokio::sync::watch;

/// The certificate that is served from the next connection on.
#[derive(Debug)]
pub(super) struct CurrentCertificate(watch::Sender<Option<Arc<CertifiedKey>>>);

impl CurrentCertificate {
    /// As long as there is none, every handshake fails.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(None)))
    }

    /// Serves this one from now on. Connections that are open stay as they are.
    pub(super) fn replace(&self, certificate: &ServerCertificate) {
        self.0.send_replace(Some(certificate.key()));
    }

    /// Waits until there is one.
    pub(super) async fn loaded(&self) {
        // The sender is ours, so that waiting ends with success only.
        let _ = self.0.subscribe().wait_for(Option::is_some).await;
    }
}

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.borrow().clone()
    }
}

/// TLS 1.2 and 1.3 with whatever certificate is current.
pub(super) fn tls(current: Arc<CurrentCertificate>) -> Result<ServerConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_no_client_auth()
        .with_cert_resolver(current);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
