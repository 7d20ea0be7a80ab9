//! A client's TLS configuration from PEM files.

use super::pem::{self, PemError, private_key};
use crate::watched_file::FileError;
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;

/// Which servers a client trusts, and the certificate that it shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTls {
    /// PEM files with the CAs to trust; without any, the system's are trusted.
    pub ca_files: Vec<PathBuf>,
    /// Trusts the system's CAs besides [`ca_files`](Self::ca_files).
    pub trusts_system: bool,
    /// The files of the client's certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Why a client's TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ClientTlsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system's CAs are needed, and there are none.
    #[error("the system's root certificates: {0}")]
    SystemRoots(String),
    /// The TLS library's error.
    #[error("setting up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl ClientTls {
    /// True for the system's CAs alone.
    #[must_use]
    pub const fn needs_no_files(&self) -> bool {
        self.ca_files.is_empty() && self.certificate.is_none()
    }

    /// All files, as [`config`](Self::config) takes their contents.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let certificate = self.certificate.iter().flat_map(|(cert, key)| [cert, key]);
        self.ca_files.iter().chain(certificate).cloned().collect()
    }

    /// The configuration, from the contents of the files in the order of [`paths`](Self::paths).
    ///
    /// # Errors
    /// [`ClientTlsError`].
    pub fn config(&self, contents: &[Vec<u8>]) -> Result<ClientConfig, ClientTlsError> {
        let mut roots = RootCertStore::empty();
        if self.trusts_system || self.ca_files.is_empty() {
            add_system_roots(&mut roots, self.ca_files.is_empty())?;
        }
        let mut contents = contents.iter();
        for (path, pem) in self.ca_files.iter().zip(&mut contents) {
            pem::add_roots(&mut roots, pem).map_err(|error| FileError::contents(path, error))?;
        }
        let builder = ClientConfig::builder_with_provider(super::provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let (Some((cert, key)), Some(cert_pem), Some(key_pem)) =
            (&self.certificate, contents.next(), contents.next())
        else {
            return Ok(builder.with_no_client_auth());
        };
        let configured = pem::certificates(cert_pem).and_then(|chain| {
            let configured = builder.with_client_auth_cert(chain, private_key(key_pem)?);
            configured.map_err(PemError::of_pair)
        });
        Ok(configured.map_err(|error| error.in_files(cert, key))?)
    }
}

/// Some of the system's roots may be unusual; only where they are `needed` there must be any.
fn add_system_roots(roots: &mut RootCertStore, needed: bool) -> Result<(), ClientTlsError> {
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 || !needed {
        return Ok(());
    }
    let reason = found.errors.first();
    let reason = reason.map_or_else(|| "there are none".to_owned(), ToString::to_string);
    Err(ClientTlsError::SystemRoots(reason))
}
