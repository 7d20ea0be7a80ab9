//! A server's TLS configuration, which can change while connections come in.

use rustls::ServerConfig;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use tokio::sync::watch;

/// A server's TLS configuration for HTTP/1. Each handshake takes what is current when it begins.
#[derive(Debug)]
pub struct ServerTls {
    certificate: Arc<CurrentCertificate>,
    current: watch::Sender<Current>,
}

/// The certificates of handshakes.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) config: Arc<ServerConfig>,
    /// Counts the changes of the clients' CAs.
    pub(crate) client_cas: u64,
}

#[derive(Debug)]
struct CurrentCertificate(watch::Sender<Option<Arc<CertifiedKey>>>);

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.borrow().clone()
    }
}

impl ServerTls {
    /// A configuration without a certificate: every handshake fails until
    /// [`set_certificate`](Self::set_certificate). Without a verifier clients need no certificate.
    ///
    /// # Errors
    /// The TLS library's.
    pub fn new(clients: Option<Arc<dyn ClientCertVerifier>>) -> Result<Self, rustls::Error> {
        let certificate = Arc::new(CurrentCertificate(watch::Sender::new(None)));
        let clients = clients.unwrap_or_else(WebPkiClientVerifier::no_client_auth);
        let current = Current {
            config: config(Arc::clone(&certificate), clients)?,
            client_cas: 0,
        };
        Ok(Self {
            certificate,
            current: watch::Sender::new(current),
        })
    }

    /// Uses this certificate from the next handshake on. Open connections stay as they are.
    pub fn set_certificate(&self, certificate: Arc<CertifiedKey>) {
        self.certificate.0.send_replace(Some(certificate));
    }

    /// Waits until there is a certificate.
    pub async fn has_certificate(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self
            .certificate
            .0
            .subscribe()
            .wait_for(Option::is_some)
            .await;
    }

    /// Verifies clients with this from the next handshake on. A listener closes the connections of
    /// clients that were verified before when their request is answered, and none of their TLS
    /// sessions is resumed.
    ///
    /// # Errors
    /// The TLS library's; the previous verifier then stays in use.
    pub fn set_client_verifier(
        &self,
        clients: Arc<dyn ClientCertVerifier>,
    ) -> Result<(), rustls::Error> {
        let config = config(Arc::clone(&self.certificate), clients)?;
        self.current.send_modify(|current| {
            current.config = config;
            current.client_cas += 1;
        });
        Ok(())
    }

    /// The configuration for the next handshake.
    #[must_use]
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.borrow().config)
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Current> {
        self.current.subscribe()
    }
}

fn config(
    certificate: Arc<CurrentCertificate>,
    clients: Arc<dyn ClientCertVerifier>,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(super::provider())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(clients)
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
