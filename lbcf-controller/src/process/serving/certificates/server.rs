//! A server's certificate with its key, ready to be served.

use jiff::Timestamp;
use lbcf_serving::tls::{PemError, certified_key};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use std::fmt;
use std::sync::Arc;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

/// A private key in PEM. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Default)]
pub(in crate::process::serving) struct PrivatePem(pub(in crate::process::serving) Vec<u8>);

impl fmt::Debug for PrivatePem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivatePem(..)")
    }
}

/// From when to when a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process::serving) struct Validity {
    pub(super) start: Timestamp,
    pub(in crate::process::serving) end: Timestamp,
}

impl Validity {
    /// `None` for times out of range.
    pub(super) fn of(certificate: &X509Certificate<'_>) -> Option<Self> {
        let validity = certificate.validity();
        Some(Self {
            start: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
            end: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
        })
    }

    pub(in crate::process::serving) fn is_over(&self, now: Timestamp) -> bool {
        self.end < now
    }

    pub(super) fn holds(&self, now: Timestamp) -> bool {
        self.start <= now && !self.is_over(now)
    }

    /// True once a part of the lifetime, as numerator and denominator, has passed.
    pub(super) fn is_past(&self, (numerator, denominator): (i32, i32), now: Timestamp) -> bool {
        let lifetime = self.end.duration_since(self.start);
        now.duration_since(self.start) >= lifetime / denominator * numerator
    }
}

#[derive(Clone)]
pub(in crate::process::serving) struct ServerCertificate {
    pub(in crate::process::serving) key: Arc<CertifiedKey>,
    pub(in crate::process::serving) validity: Validity,
    pub(super) chain_pem: Vec<u8>,
    pub(super) key_pem: PrivatePem,
}

/// Why a certificate and a key cannot be served. It quotes neither.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnusableCertificate {
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

    /// The certificate itself, without those that lead to its CA.
    pub(in crate::process::serving) fn own(&self) -> Option<&CertificateDer<'static>> {
        self.key.cert.first()
    }

    /// True for a certificate with this name, whichever CA signed it.
    pub(super) fn is_for(&self, name: &ServerName<'_>) -> bool {
        self.own().is_some_and(|own| {
            ParsedCertificate::try_from(own).is_ok_and(|own| verify_server_name(&own, name).is_ok())
        })
    }

    pub(super) fn is_signed_by(&self, ca: &CertificateDer<'_>) -> bool {
        let own = self.own().and_then(whole_certificate);
        let ca = whole_certificate(ca);
        let both = own.as_ref().zip(ca.as_ref());
        both.is_some_and(|(own, ca)| own.verify_signature(Some(ca.public_key())).is_ok())
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
pub(in crate::process::serving) fn own_validity(certified: &CertifiedKey) -> Option<Validity> {
    Validity::of(&whole_certificate(certified.cert.first()?)?)
}

/// Parses a certificate; `None` where it is damaged or followed by other bytes.
pub(super) fn whole_certificate<'a>(der: &'a CertificateDer<'_>) -> Option<X509Certificate<'a>> {
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => Some(certificate),
        _ => None,
    }
}
