//! The usable parts of a stored bundle. Each part is read and checked on its own, so that damage to
//! one leaves the others in use.

use super::{Bundle, MAX_CAS, Validity};
use crate::process::serving::server_certificate::{ServerCertificate, whole_certificate};
use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Default)]
pub(in crate::process::serving) struct Found {
    /// The one that signs comes first.
    pub(super) cas: Vec<Ca>,
    /// The key of the first CA.
    pub(super) signer: Option<KeyPair>,
    /// Whether something else maintains the bundle: it has certificates and no CA key.
    pub(super) is_foreign: bool,
    pub(in crate::process::serving) server: Option<ServerCertificate>,
    /// What is wrong with the bundle; nothing of it is quoted.
    pub(in crate::process::serving) problems: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Ca {
    pub(super) der: CertificateDer<'static>,
    pub(super) validity: Validity,
}

impl Found {
    /// Reads each part of a bundle, and notes what is wrong with the others.
    pub(in crate::process::serving) fn read(bundle: &Bundle) -> Self {
        let mut problems = Vec::new();
        let mut cas = read_cas(&bundle.cas, &mut problems);
        let mut signer = None;
        if let Some(key) = &bundle.ca_key {
            match read_signer(&key.0, &mut cas) {
                Ok(key) => signer = Some(key),
                Err(problem) => problems.push(problem.to_owned()),
            }
        }
        let server = ServerCertificate::read(&bundle.server, &bundle.server_key)
            .map_err(|error| problems.push(format!("the server: {error}")))
            .ok();
        Self {
            is_foreign: bundle.ca_key.is_none() && server.is_some(),
            cas,
            signer,
            server,
            problems,
        }
    }

    /// Replaces missing and broken parts by those that this replica serves, so that damage to the
    /// Secret harms no client. The CA's key is not replaced: it may have been removed on purpose.
    pub(in crate::process::serving) fn completed_by(mut self, held: &Self) -> Self {
        if self.is_foreign || (self.signer.is_some() && self.server.is_some()) {
            return self;
        }
        for ca in &held.cas {
            if self.cas.len() < MAX_CAS && self.cas.iter().all(|other| other.der != ca.der) {
                self.cas.push(ca.clone());
            }
        }
        if self.server.is_none() {
            self.server.clone_from(&held.server);
        }
        self
    }

    /// The CA certificates to publish, in PEM: the same text for the same bundle.
    pub(in crate::process::serving) fn ca_bundle(&self) -> String {
        self.cas.iter().map(|ca| to_pem(&ca.der)).collect()
    }

    /// Whether a client that trusts some of the CAs accepts the server's certificate for a name.
    pub(super) fn is_accepted(
        &self,
        name: &ServerName<'_>,
        by: impl Fn(usize) -> bool,
        now: Timestamp,
    ) -> Result<(), String> {
        let server = self.server.as_ref().ok_or("there is none")?;
        let Some((own, intermediates)) = server.chain().split_first() else {
            return Err("there is none".into());
        };
        let mut roots = RootCertStore::empty();
        for (number, ca) in self.cas.iter().enumerate() {
            // rustls ignores the validity of a root; other clients do not.
            if by(number) && ca.validity.holds(now) {
                let _ = roots.add(ca.der.clone());
            }
        }
        if roots.is_empty() {
            return Err("there is no valid CA certificate for it".into());
        }
        let since_epoch = Duration::from_secs(u64::try_from(now.as_second()).unwrap_or_default());
        WebPkiServerVerifier::builder_with_provider(
            Arc::new(roots),
            Arc::new(rustls::crypto::ring::default_provider()),
        )
        .build()
        .map_err(|error| error.to_string())?
        .verify_server_cert(
            own,
            intermediates,
            name,
            &[],
            UnixTime::since_unix_epoch(since_epoch),
        )
        .map(|_| ())
        .map_err(|error| error.to_string())
    }
}

/// A certificate in PEM.
pub(super) fn to_pem(der: &CertificateDer<'_>) -> String {
    let line_ending = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    pem::encode_config(&pem::Pem::new("CERTIFICATE", der.as_ref()), line_ending)
}

fn read_cas(pem: &[u8], problems: &mut Vec<String>) -> Vec<Ca> {
    let ders = CertificateDer::pem_slice_iter(pem).take(MAX_CAS);
    let Ok(ders) = ders.collect::<Result<Vec<_>, _>>() else {
        problems.push("the CA certificates are not PEM".into());
        return Vec::new();
    };
    if ders.is_empty() {
        problems.push("there is no CA certificate".into());
    }
    let mut cas: Vec<Ca> = Vec::with_capacity(ders.len());
    for (number, der) in ders.into_iter().enumerate() {
        match read_ca(&der) {
            Ok(validity) if cas.iter().all(|other| other.der != der) => {
                cas.push(Ca { der, validity });
            }
            Ok(_) => problems.push(format!("CA certificate {}: is a duplicate", number + 1)),
            Err(problem) => problems.push(format!("CA certificate {}: {problem}", number + 1)),
        }
    }
    cas
}

fn read_ca(der: &CertificateDer<'_>) -> Result<Validity, &'static str> {
    let certificate = whole_certificate(der).ok_or("is not one of X.509")?;
    if !certificate.is_ca() {
        return Err("is not a CA's");
    }
    Validity::of(&certificate).ok_or("is not one of X.509")
}

/// Reads a CA's key and puts its certificate first.
fn read_signer(pem: &[u8], cas: &mut [Ca]) -> Result<KeyPair, &'static str> {
    let key = std::str::from_utf8(pem)
        .ok()
        .and_then(|pem| KeyPair::from_pem(pem).ok())
        .ok_or("the CA's key is not a private key in PEM and PKCS #8")?;
    let public = key.subject_public_key_info();
    let certificate = cas.iter().position(|ca| {
        whole_certificate(&ca.der).is_some_and(|ca| ca.public_key().raw == public.as_slice())
    });
    match certificate {
        Some(number) => {
            cas[..=number].rotate_right(1);
            Ok(key)
        }
        None => Err("the CA's key is not that of any CA certificate"),
    }
}
