//! A server's certificate with its key, ready to be served.

use super::certificates::{PrivatePem, Validity};
use lbcf_serving::tls::{PemError, certified_key};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use std::fmt;
use std::sync::Arc;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

#[derive(Clone)]
pub(super) struct ServerCertificate {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) validity: Validity,
    pub(super) chain_pem: Vec<u8>,
    pub(super) key_pem: PrivatePem,
}

/// Why a certificate and a key cannot be served. It quotes neither.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnusableCertificate {
    #[error(transparent)]
    Pem(#[from] PemError),
    #[error("not a certificate of X.509")]
    NotX509,
}

impl ServerCertificate {
    /// Reads a certificate, followed by those that lead to its CA, and its key.
    pub(super) fn read(
        chain_pem: &[u8],
        key_pem: &PrivatePem,
    ) -> Result<Self, UnusableCertificate> {
        let key = certified_key(chain_pem, &key_pem.0)?;
        Ok(Self {
            validity: own_validity(&key).ok_or(UnusableCertificate::NotX509)?,
            key: Arc::new(key),
            chain_pem: chain_pem.to_vec(),
            key_pem: key_pem.clone(),
        })
    }

    /// The certificate, then those that lead to its CA.
    pub(super) fn chain(&self) -> &[CertificateDer<'static>] {
        &self.key.cert
    }

    /// Whether it is for a name, whichever CA signed it.
    pub(super) fn is_for(&self, name: &ServerName<'_>) -> bool {
        self.chain().first().is_some_and(|own| {
            ParsedCertificate::try_from(own).is_ok_and(|own| verify_server_name(&own, name).is_ok())
        })
    }
}

impl fmt::Debug for ServerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCertificate")
            .field("validity", &self.validity)
            .finish_non_exhaustive()
    }
}

/// From when to when the server's own certificate is valid; `None` for one that is damaged.
pub(super) fn own_validity(certified: &CertifiedKey) -> Option<Validity> {
    Validity::of(&whole_certificate(certified.cert.first()?)?)
}

/// Parses a certificate; `None` where it is damaged or followed by other bytes.
pub(super) fn whole_certificate<'a>(der: &'a CertificateDer<'_>) -> Option<X509Certificate<'a>> {
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => Some(certificate),
        _ => None,
    }
}
