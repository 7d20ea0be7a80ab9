//! A server's certificate with its key, ready to be served.

use super::certificates::{PrivatePem, Validity};
use rustls::InconsistentKeys;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use std::fmt;
use std::sync::Arc;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

/// How many certificates may lead from the server's to a CA.
const MAX_CHAIN: usize = 16;

/// A server's certificate with its key, ready to be served.
#[derive(Clone)]
pub(super) struct ServerCertificate {
    key: Arc<CertifiedKey>,
    validity: Validity,
    chain_pem: Vec<u8>,
    key_pem: PrivatePem,
}

/// Why a certificate and a key cannot be served. It quotes neither: what is no certificate may be
/// a key in the wrong place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Unusable {
    /// There is no certificate where one is wanted.
    #[error("the certificate is not PEM with a section CERTIFICATE")]
    NoCertificate,
    /// There are too many.
    #[error("more than {MAX_CHAIN} certificates, the server's own and those that lead to its CA")]
    LongChain,
    /// The certificate is damaged.
    #[error("the certificate is not one of X.509")]
    BadCertificate,
    /// There is no key where one is wanted.
    #[error("the key is not PEM with a section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY")]
    NoKey,
    /// The key is another certificate's.
    #[error("the key is not the certificate's")]
    OtherKey,
    /// The two cannot be used.
    #[error("the certificate with its key cannot be used: {0}")]
    Refused(#[source] rustls::Error),
}

impl ServerCertificate {
    /// Reads a certificate, its own first, and its key.
    pub(super) fn read(chain_pem: &[u8], key_pem: &PrivatePem) -> Result<Self, Unusable> {
        let chain = certificates(chain_pem, MAX_CHAIN + 1).ok_or(Unusable::NoCertificate)?;
        if chain.len() > MAX_CHAIN {
            return Err(Unusable::LongChain);
        }
        let own = chain.first().ok_or(Unusable::NoCertificate)?;
        let own = whole_certificate(own).ok_or(Unusable::BadCertificate)?;
        let validity = Validity::of(&own).ok_or(Unusable::BadCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(&key_pem.0).map_err(|_| Unusable::NoKey)?;
        let provider = rustls::crypto::ring::default_provider();
        let key = CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => Unusable::OtherKey,
            error => Unusable::Refused(error),
        })?;
        Ok(Self {
            key: Arc::new(key),
            validity,
            chain_pem: chain_pem.to_vec(),
            key_pem: key_pem.clone(),
        })
    }

    /// For the TLS library.
    pub(super) fn key(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.key)
    }

    /// The certificate, then those that lead to its CA.
    pub(super) fn chain(&self) -> &[CertificateDer<'static>] {
        &self.key.cert
    }

    /// From when to when it is valid.
    pub(super) const fn validity(&self) -> Validity {
        self.validity
    }

    /// Whether it is for a name, whoever signed it.
    pub(super) fn is_for(&self, name: &ServerName<'_>) -> bool {
        self.chain().first().is_some_and(|own| {
            ParsedCertificate::try_from(own).is_ok_and(|own| verify_server_name(&own, name).is_ok())
        })
    }

    /// The certificates as they were read.
    pub(super) fn chain_pem(&self) -> &[u8] {
        &self.chain_pem
    }

    /// The key as it was read.
    pub(super) const fn key_pem(&self) -> &PrivatePem {
        &self.key_pem
    }
}

impl fmt::Debug for ServerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCertificate")
            .field("validity", &self.validity)
            .finish_non_exhaustive()
    }
}

/// The certificates of a PEM text, at most `limit`; `None` where the text is damaged.
pub(super) fn certificates(pem: &[u8], limit: usize) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem)
        .take(limit)
        .collect::<Result<_, _>>()
        .ok()
}

/// What a certificate says, where it is one and nothing else.
pub(super) fn whole_certificate<'a>(der: &'a CertificateDer<'_>) -> Option<X509Certificate<'a>> {
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => Some(certificate),
        _ => None,
    }
}
