//! A server's certificate, key and client CAs in files that may change.

use super::{ServerTls, certified_key, client_verifier};
use crate::watched_file::{FileError, WatchedFiles};
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A server's certificate and key in PEM files, such as those of a Secret of type
/// `kubernetes.io/tls`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    cert: PathBuf,
    key: PathBuf,
}

/// A server's TLS, and the files that it is made from.
#[derive(Debug)]
pub struct ReloadingTls {
    tls: Arc<ServerTls>,
    certificate: WatchedFiles<CertifiedKey>,
    client_ca: ClientCa,
}

/// A file with the CAs of the clients that a server lets in, if there is one.
#[derive(Debug)]
pub struct ClientCa(Option<WatchedFiles<Arc<dyn ClientCertVerifier>>>);

impl TlsFiles {
    /// `cert` has the server's certificate, followed by those that lead to its CA; `key` its private
    /// key.
    pub fn new(cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            cert: cert.into(),
            key: key.into(),
        }
    }

    /// Makes a certificate of the contents of the two files.
    ///
    /// # Errors
    /// [`FileError`], which names the file at fault.
    pub fn certificate(&self, cert_pem: &[u8], key_pem: &[u8]) -> Result<CertifiedKey, FileError> {
        certified_key(cert_pem, key_pem).map_err(|error| error.in_files(&self.cert, &self.key))
    }

    /// The two files as they change.
    #[must_use]
    pub fn watched(self) -> WatchedFiles<CertifiedKey> {
        let paths = vec![self.cert.clone(), self.key.clone()];
        WatchedFiles::new("certificate", paths, move |contents| match contents {
            [cert, key] => self.certificate(cert, key),
            _ => self.certificate(&[], &[]),
        })
    }

    /// Reads the files, and `client_ca` with the CAs of the clients that are let in. Without it
    /// clients need no certificate.
    ///
    /// # Errors
    /// `E` of a [`FileError`] or of an error of the TLS library.
    pub async fn load<E>(self, client_ca: Option<PathBuf>) -> Result<ReloadingTls, E>
    where
        E: From<FileError> + From<rustls::Error>,
    {
        let (first, certificate) = self.watched().load().await?;
        let (tls, client_ca) = ClientCa::load::<E>(client_ca).await?;
        tls.set_certificate(Arc::new(first));
        Ok(ReloadingTls {
            tls: Arc::new(tls),
            certificate,
            client_ca,
        })
    }
}

impl ClientCa {
    /// Reads the file, for a TLS configuration that has no certificate yet. Without a file clients need
    /// no certificate.
    ///
    /// # Errors
    /// `E` of a [`FileError`] or of an error of the TLS library.
    pub async fn load<E>(path: Option<PathBuf>) -> Result<(ServerTls, Self), E>
    where
        E: From<FileError> + From<rustls::Error>,
    {
        let Some(path) = path else {
            return Ok((ServerTls::new(None)?, Self(None)));
        };
        let (verifier, files) = watched_client_ca(&path).load().await?;
        Ok((ServerTls::new(Some(verifier))?, Self(Some(files))))
    }

    /// Reads the file again at this interval, without end. Where new contents cannot be used, the
    /// previous ones stay.
    pub async fn watch(self, tls: &ServerTls, interval: Duration) {
        let Some(files) = self.0 else {
            return pending().await;
        };
        let set = |clients| {
            if let Err(error) = tls.set_client_verifier(clients) {
                tracing::error!(%error, "the CA of clients stays what it was");
            }
        };
        files.watch(interval, set).await;
    }
}

fn watched_client_ca(path: &Path) -> WatchedFiles<Arc<dyn ClientCertVerifier>> {
    let own = path.to_owned();
    WatchedFiles::new("CA of clients", vec![path.to_owned()], move |contents| {
        client_verifier(&contents.concat()).map_err(|error| FileError::contents(&own, error))
    })
}

impl ReloadingTls {
    /// The TLS for [`Listener::tls`](crate::listener::Listener::tls).
    #[must_use]
    pub fn tls(&self) -> Arc<ServerTls> {
        Arc::clone(&self.tls)
    }

    /// Reads the files again at this interval, without end. Certificate and CAs change independently
    /// of each other; where new contents cannot be used, the previous ones stay.
    pub async fn watch(self, interval: Duration) {
        let tls = &self.tls;
        let certificate = self.certificate.watch(interval, |certificate| {
            tls.set_certificate(Arc::new(certificate));
        });
        tokio::join!(certificate, self.client_ca.watch(tls, interval));
    }
}
