//! TLS with a certificate, and if wished a CA for clients, from files that may change.
//!
//! The certificate and the CA change independently: a broken certificate keeps the one before,
//! and does not keep a new CA from being used. A handshake takes what is current when it begins.

mod pem;

use super::ServerError;
use super::reload::FromFiles;
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A server's certificate and its key, in files as a Secret of type `kubernetes.io/tls` has them.
///
/// ```
/// use lbcf_driver_sdk::server::TlsFiles;
///
/// let files = TlsFiles::new("/etc/tls/tls.crt", "/etc/tls/tls.key");
/// # let _ = files;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    cert: PathBuf,
    key: PathBuf,
}

impl TlsFiles {
    /// PEM files: the certificate followed by those that lead to its CA, and its private key.
    ///
    /// ```
    /// let files = lbcf_driver_sdk::server::TlsFiles::new("tls.crt", "tls.key");
    /// # let _ = files;
    /// ```
    pub fn new(cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            cert: cert.into(),
            key: key.into(),
        }
    }
}

/// What handshakes use.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub(super) config: Arc<ServerConfig>,
    /// Grows when other clients are let in than before.
    pub(super) clients: u64,
}

/// The files, and what was made from them last.
pub(super) struct Tls {
    certificate_files: FromFiles<CertifiedKey>,
    certificate: CertifiedKey,
    client_ca_files: Option<FromFiles<Arc<dyn ClientCertVerifier>>>,
    client_ca: Arc<dyn ClientCertVerifier>,
    current: watch::Sender<Current>,
}

impl Tls {
    pub(super) async fn load(
        TlsFiles { cert, key }: TlsFiles,
        client_ca: Option<PathBuf>,
    ) -> Result<Self, ServerError> {
        let paths = vec![cert.clone(), key.clone()];
        let make = move |contents: &[Vec<u8>]| match contents {
            [chain, private] => pem::certificate((&cert, chain), (&key, private)),
            _ => Err(ServerError::Settings("TLS needs a certificate and a key")),
        };
        let mut certificate_files = FromFiles::new("certificate", paths, make);
        let certificate = certificate_files.load().await?;
        let mut client_ca_files = client_ca.map(|path| {
            let make = {
                let path = path.clone();
                move |contents: &[Vec<u8>]| pem::client_ca(&path, &contents.concat())
            };
            FromFiles::new("CA of clients", vec![path], make)
        });
        let client_ca = match &mut client_ca_files {
            Some(files) => files.load().await?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let current = Current {
            config: config(&certificate, &client_ca)?,
            clients: 0,
        };
        Ok(Self {
            certificate_files,
            certificate,
            client_ca_files,
            client_ca,
            current: watch::Sender::new(current),
        })
    }

    pub(super) fn current(&self) -> watch::Receiver<Current> {
        self.current.subscribe()
    }

    /// Looks at the files time and again, for ever.
    pub(super) async fn watch(mut self, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            self.look_again().await;
        }
    }

    async fn look_again(&mut self) {
        let certificate = self.certificate_files.look_again().await;
        let client_ca = match &mut self.client_ca_files {
            Some(files) => files.look_again().await,
            None => None,
        };
        if certificate.is_none() && client_ca.is_none() {
            return;
        }
        let other_clients = u64::from(client_ca.is_some());
        self.certificate = certificate.unwrap_or_else(|| self.certificate.clone());
        self.client_ca = client_ca.unwrap_or_else(|| Arc::clone(&self.client_ca));
        // A new configuration knows none of the sessions that were begun with the old one, so
        // nobody resumes one that the new CA would not let begin.
        match config(&self.certificate, &self.client_ca) {
            Ok(config) => self.current.send_modify(|current| {
                current.config = config;
                current.clients += other_clients;
            }),
            Err(error) => tracing::error!(%error, "TLS stays as it was"),
        }
    }
}

/// TLS 1.2 and 1.3 for HTTP/1.
fn config(
    certificate: &CertifiedKey,
    client_ca: &Arc<dyn ClientCertVerifier>,
) -> Result<Arc<ServerConfig>, ServerError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(ServerError::Tls)?
        .with_client_cert_verifier(Arc::clone(client_ca))
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certificate.clone())));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
