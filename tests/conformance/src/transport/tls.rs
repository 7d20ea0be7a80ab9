//! TLS from PEM files: whom to trust, and who the kit is.

use super::settings::{Settings, TransportError};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// No file of certificates is longer; a system's has a quarter of it.
const MAX_LENGTH: u64 = 1 << 20;

/// The TLS that the settings ask for.
pub(super) fn config(settings: &Settings) -> Result<ClientConfig, TransportError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TransportError::Tls(error.to_string()))?
        .with_root_certificates(roots(settings)?);
    let mut config = match &settings.client_certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let private = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| {
                TransportError::file(
                    key,
                    "not PEM with a section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY",
                )
            })?;
            builder
                .with_client_auth_cert(chain, private)
                .map_err(|error| {
                    let certificate = certificate.display();
                    let problem =
                        format!("cannot be used with the certificate in {certificate}: {error}");
                    TransportError::file(key, problem)
                })?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn roots(settings: &Settings) -> Result<RootCertStore, TransportError> {
    let mut roots = RootCertStore::empty();
    if settings.ca_files.is_empty() {
        let found = rustls_native_certs::load_native_certs();
        // Some of the system's may be unusual, but there have to be any.
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let problem = match found.errors.first() {
                Some(error) => error.to_string(),
                None => "there are none".to_owned(),
            };
            return Err(TransportError::SystemRoots(problem));
        }
    }
    for path in &settings.ca_files {
        for (number, certificate) in (1..).zip(certificates(path)?) {
            roots.add(certificate).map_err(|error| {
                TransportError::file(path, format!("certificate {number}: {error}"))
            })?;
        }
    }
    Ok(roots)
}

/// The certificates of a file, one at least. Nothing is quoted: what is no certificate may be a
/// key in the wrong place.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let certificates = CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| TransportError::file(path, "damaged PEM"))?;
    if certificates.is_empty() {
        return Err(TransportError::file(
            path,
            "not PEM with a section CERTIFICATE",
        ));
    }
    Ok(certificates)
}

fn read(path: &Path) -> Result<Vec<u8>, TransportError> {
    let failed = |error: std::io::Error| TransportError::file(path, error.to_string());
    let mut content = Vec::new();
    let file = File::open(path).map_err(failed)?;
    let length = file
        .take(MAX_LENGTH + 1)
        .read_to_end(&mut content)
        .map_err(failed)?;
    if u64::try_from(length).is_ok_and(|length| length > MAX_LENGTH) {
        let problem = format!("longer than {MAX_LENGTH} bytes, which no file of certificates is");
        return Err(TransportError::file(path, problem));
    }
    Ok(content)
}
