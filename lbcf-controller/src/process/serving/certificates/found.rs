//! The stored certificates and keys, as far as they can be used.

use super::MAX_CAS;
use super::server::{PrivatePem, ServerCertificate, Validity, whole_certificate};
use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};

/// Certificates and keys in PEM: the contents of the Secret, unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::process::serving) struct Bundle {
    /// First the CA certificate of `ca_key`, then older ones that are in use.
    pub(in crate::process::serving) cas: Vec<u8>,
    pub(in crate::process::serving) ca_key: PrivatePem,
    /// The server's certificate, followed by those that lead to its CA.
    pub(in crate::process::serving) server: Vec<u8>,
    pub(in crate::process::serving) server_key: PrivatePem,
}

#[derive(Debug, Default)]
pub(in crate::process::serving) struct Found {
    /// The one that signs comes first.
    pub(super) cas: Vec<Ca>,
    /// The key of the first CA; without it, there is no CA to sign with.
    pub(super) signer: Option<KeyPair>,
    pub(in crate::process::serving) server: Option<ServerCertificate>,
    /// Why a part of the bundle cannot be used; nothing of it is quoted.
    pub(in crate::process::serving) problem: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Ca {
    pub(super) der: CertificateDer<'static>,
    pub(super) validity: Validity,
}

impl Found {
    /// Reads a bundle. Without a CA and its key nothing of it is used.
    pub(in crate::process::serving) fn read(bundle: &Bundle) -> Self {
        let (cas, signer) = match read_cas(&bundle.cas).and_then(|cas| read_signer(bundle, cas)) {
            Ok(signer) => signer,
            Err(problem) => {
                return Self {
                    problem: Some(problem.to_owned()),
                    ..Self::default()
                };
            }
        };
        let server = ServerCertificate::read(&bundle.server, &bundle.server_key);
        let problem = server.as_ref().err();
        Self {
            cas,
            signer: Some(signer),
            problem: problem.map(|error| format!("the server: {error}")),
            server: server.ok(),
        }
    }

    /// Where no stored CA can sign, goes on with the bundle that this replica serves. The CA's key is not put back: it may have
    /// been removed on purpose.
    pub(in crate::process::serving) fn or_held(self, held: Option<&Bundle>) -> Self {
        match held {
            Some(held) if self.signer.is_none() => Self {
                signer: None,
                problem: self.problem,
                ..Self::read(held)
            },
            _ => self,
        }
    }

    /// The CA certificates to publish, in PEM: the same text for the same bundle.
    pub(in crate::process::serving) fn ca_bundle(&self) -> String {
        self.cas.iter().map(|ca| to_pem(&ca.der)).collect()
    }

    /// The CA whose clients accept the server's certificate for a name, if there is one.
    pub(super) fn accepted_by(&self, name: &ServerName<'_>, now: Timestamp) -> Option<usize> {
        let server = self.server.as_ref()?;
        let is_valid = server.validity.holds(now) && server.is_for(name);
        let signed = |ca: &Ca| ca.validity.holds(now) && server.is_signed_by(&ca.der);
        self.cas.iter().position(|ca| is_valid && signed(ca))
    }
}

/// A certificate in PEM.
pub(super) fn to_pem(der: &CertificateDer<'_>) -> String {
    let line_ending = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    pem::encode_config(&pem::Pem::new("CERTIFICATE", der.as_ref()), line_ending)
}

fn read_cas(pem: &[u8]) -> Result<Vec<Ca>, &'static str> {
    let ders = CertificateDer::pem_slice_iter(pem).take(MAX_CAS);
    let cas = ders.map(|der| {
        let der = der.map_err(|_| "the CA certificates are not PEM")?;
        let certificate = whole_certificate(&der).filter(|certificate| certificate.is_ca());
        let validity = certificate.as_ref().and_then(Validity::of);
        let validity = validity.ok_or("a CA certificate is not one of X.509")?;
        Ok(Ca { der, validity })
    });
    cas.collect()
}

/// Reads the CA's key, which is that of the first CA certificate.
fn read_signer(bundle: &Bundle, cas: Vec<Ca>) -> Result<(Vec<Ca>, KeyPair), &'static str> {
    let first = cas.first().ok_or("there is no CA certificate")?;
    let key = std::str::from_utf8(&bundle.ca_key.0)
        .ok()
        .and_then(|pem| KeyPair::from_pem(pem).ok())
        .ok_or("the CA's key is not a private key in PEM and PKCS #8")?;
    let public = key.subject_public_key_info();
    let is_its_key = whole_certificate(&first.der).is_some_and(|ca| ca.public_key().raw == public);
    if !is_its_key {
        return Err("the CA's key is not that of the first CA certificate");
    }
    Ok((cas, key))
}
