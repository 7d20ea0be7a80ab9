//! Certificates and keys from PEM text.

use crate::watched_file::FileError;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// The most certificates of a chain, or of a list of client CAs.
const MAX_CERTIFICATES: usize = 64;

/// A mistake in a PEM text. It quotes nothing: what is not a certificate may be a key in the
/// wrong place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PemError {
    /// The text breaks off within a section, or is not Base64.
    #[error("damaged PEM")]
    Damaged,
    /// There is no certificate.
    #[error("not PEM with a section CERTIFICATE")]
    NoCertificate,
    /// There are more than 64 certificates.
    #[error("more than {MAX_CERTIFICATES} certificates")]
    TooManyCertificates,
    /// A certificate cannot be trusted as a CA's.
    #[error("certificate {number}: not a CA's certificate of X.509: {reason}")]
    NotACa {
        /// Which one it is, from 1.
        number: usize,
        /// The TLS library's reason.
        reason: String,
    },
    /// There is no private key.
    #[error("not PEM with a section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY")]
    NoKey,
    /// The key is another certificate's.
    #[error("not the key of the certificate")]
    KeyMismatch,
    /// The TLS library does not take the certificate with its key.
    #[error("cannot be used: {0}")]
    Unusable(#[source] rustls::Error),
}

impl PemError {
    /// The error of a certificate and a key in these files.
    pub(super) fn in_files(self, cert: &Path, key: &Path) -> FileError {
        match self {
            Self::NoKey => FileError::contents(key, self),
            Self::KeyMismatch => {
                FileError::contents(key, format_args!("{self} in {}", cert.display()))
            }
            Self::Unusable(error) => {
                let key = key.display();
                let problem = format_args!("cannot be used with the key in {key}: {error}");
                FileError::contents(cert, problem)
            }
            error => FileError::contents(cert, error),
        }
    }

    pub(super) fn of_pair(error: rustls::Error) -> Self {
        match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => Self::KeyMismatch,
            error => Self::Unusable(error),
        }
    }
}

/// The certificates of a PEM text: from 1 to 64.
///
/// # Errors
/// [`PemError`].
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .take(MAX_CERTIFICATES + 1)
        .collect::<Result<_, _>>()
        .map_err(|_| PemError::Damaged)?;
    match certificates.len() {
        0 => Err(PemError::NoCertificate),
        1..=MAX_CERTIFICATES => Ok(certificates),
        _ => Err(PemError::TooManyCertificates),
    }
}

pub(super) fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, PemError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| PemError::NoKey)
}

/// A certificate, followed by those that lead to its CA, with its private key.
///
/// # Errors
/// [`PemError`].
pub fn certified_key(chain_pem: &[u8], key_pem: &[u8]) -> Result<CertifiedKey, PemError> {
    let chain = certificates(chain_pem)?;
    CertifiedKey::from_der(chain, private_key(key_pem)?, &super::provider())
        .map_err(PemError::of_pair)
}

/// The CAs of a PEM text, as roots of trust.
pub(super) fn add_roots(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), PemError> {
    for (number, ca) in (1..).zip(certificates(pem)?) {
        roots.add(ca).map_err(|error| PemError::NotACa {
            number,
            reason: error.to_string(),
        })?;
    }
    Ok(())
}

/// Verifies that a client has a certificate of one of these CAs; clients without one are refused.
///
/// # Errors
/// [`PemError`].
pub fn client_verifier(ca_pem: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, PemError> {
    let mut roots = RootCertStore::empty();
    add_roots(&mut roots, ca_pem)?;
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), super::provider())
        .build()
        .map_err(|error| PemError::Unusable(rustls::Error::General(error.to_string())))
}
