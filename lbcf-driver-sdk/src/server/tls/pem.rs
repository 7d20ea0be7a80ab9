//! Certificates and keys from PEM text. What is wrong with a text is told without quoting it: what
//! is no certificate may be a key in the wrong place.

use crate::server::ServerError;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// How many certificates may lead from the server's to a CA, and how many CAs clients may have.
const MAX_CERTIFICATES: usize = 64;

/// A server's certificate with its chain, and its key.
pub(super) fn certificate(
    (chain_path, chain_pem): (&Path, &[u8]),
    (key_path, key_pem): (&Path, &[u8]),
) -> Result<CertifiedKey, ServerError> {
    let chain = certificates(chain_path, chain_pem)?;
    let key = PrivateKeyDer::from_pem_slice(key_pem).map_err(|_| {
        let problem = "no PEM section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY";
        contents(key_path, problem)
    })?;
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            let chain_path = chain_path.display();
            contents(
                key_path,
                format!("not the key of the certificate in {chain_path}"),
            )
        }
        error => {
            let key_path = key_path.display();
            contents(
                chain_path,
                format!("cannot be used with the key in {key_path}: {error}"),
            )
        }
    })
}

/// Who is let in: whoever has a certificate of one of these CAs.
pub(super) fn client_ca(
    path: &Path,
    pem: &[u8],
) -> Result<Arc<dyn ClientCertVerifier>, ServerError> {
    let mut roots = RootCertStore::empty();
    for ca in certificates(path, pem)? {
        roots
            .add(ca)
            .map_err(|error| contents(path, format!("not a CA's certificate: {error}")))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| contents(path, error.to_string()))
}

/// At least one.
fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .take(MAX_CERTIFICATES + 1)
        .collect::<Result<_, _>>()
        .map_err(|_| contents(path, "damaged PEM"))?;
    match certificates.len() {
        0 => Err(contents(path, "no PEM section CERTIFICATE")),
        1..=MAX_CERTIFICATES => Ok(certificates),
        _ => {
            let problem = format!("more than {MAX_CERTIFICATES} certificates");
            Err(contents(path, problem))
        }
    }
}

fn contents(path: &Path, problem: impl Into<String>) -> ServerError {
    ServerError::Contents {
        path: path.to_owned(),
        problem: problem.into(),
    }
}
