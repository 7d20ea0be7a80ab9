//! Root certificates and the client's certificate from PEM files.

use super::HttpClientError;
use rustls::client::WantsClientCert;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ConfigBuilder, InconsistentKeys, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No file of certificates is longer; a system's has a quarter of it.
pub(super) const MAX_LENGTH: u64 = 1 << 20;

/// Which files say whom to trust, and who one is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TlsFiles {
    pub(super) roots: Vec<PathBuf>,
    pub(super) trusts_system: bool,
    /// The certificate and its key.
    pub(super) client: Option<(PathBuf, PathBuf)>,
}

impl TlsFiles {
    /// Whether there is nothing but the system's roots.
    pub(super) const fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.client.is_none()
    }

    /// All of them: roots, then the client's.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let client = self.client.iter().flat_map(|(cert, key)| [cert, key]);
        self.roots.iter().chain(client).cloned().collect()
    }

    /// The TLS that the files' contents ask for, which are in the order of the paths.
    pub(super) fn config(&self, contents: &[Vec<u8>]) -> Result<ClientConfig, HttpClientError> {
        let mut roots = RootCertStore::empty();
        if self.trusts_system || self.roots.is_empty() {
            add_system_roots(&mut roots, self.roots.is_empty())?;
        }
        let mut contents = contents.iter();
        for (path, pem) in self.roots.iter().zip(&mut contents) {
            add_roots(&mut roots, pem).map_err(|problem| HttpClientError::file(path, problem))?;
        }
        let builder = builder(roots)?;
        match (&self.client, contents.next(), contents.next()) {
            (Some((cert, key)), Some(cert_pem), Some(key_pem)) => with_client(
                builder,
                (cert.as_path(), cert_pem),
                (key.as_path(), key_pem),
            ),
            _ => Ok(builder.with_no_client_auth()),
        }
    }
}

fn builder(
    roots: RootCertStore,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, HttpClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpClientError::Tls(error.to_string()))?;
    Ok(builder.with_root_certificates(roots))
}

/// The system's roots. Some of them may be unusual, but there have to be any where there are no
/// others.
fn add_system_roots(roots: &mut RootCertStore, needed: bool) -> Result<(), HttpClientError> {
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 && needed {
        let error = match found.errors.first() {
            Some(error) => error.to_string(),
            None => "there are none".to_owned(),
        };
        return Err(HttpClientError::SystemRoots(error));
    }
    Ok(())
}

fn add_roots(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), String> {
    let certificates = certificates(pem)?;
    for (number, certificate) in (1..).zip(certificates) {
        roots
            .add(certificate)
            .map_err(|error| format!("certificate {number}: not one of X.509: {error}"))?;
    }
    Ok(())
}

/// The certificates of a PEM text, one at least. Nothing is quoted: what is no certificate may be
/// a key in the wrong place.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|_| "damaged PEM".to_owned())?;
    if certificates.is_empty() {
        return Err("not PEM with a section CERTIFICATE".to_owned());
    }
    Ok(certificates)
}

fn with_client(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    (cert, cert_pem): (&Path, &[u8]),
    (key, key_pem): (&Path, &[u8]),
) -> Result<ClientConfig, HttpClientError> {
    let chain = certificates(cert_pem).map_err(|problem| HttpClientError::file(cert, problem))?;
    let private = PrivateKeyDer::from_pem_slice(key_pem).map_err(|_| {
        let problem = "not PEM with a section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY";
        HttpClientError::file(key, problem)
    })?;
    builder
        .with_client_auth_cert(chain, private)
        .map_err(|error| {
            let problem = match error {
                rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                    format!("not the key of the certificate in {}", cert.display())
                }
                error => format!(
                    "cannot be used with the certificate in {}: {error}",
                    cert.display()
                ),
            };
            HttpClientError::file(key, problem)
        })
}
