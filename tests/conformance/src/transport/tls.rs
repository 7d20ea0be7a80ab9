//! TLS from PEM files: trusted roots and the client certificate.

use super::settings::{Settings, TransportError};
use lbcf_serving::tls::{ClientTls, ClientTlsError};
use lbcf_serving::watched_file::FileError;
use rustls::ClientConfig;
use std::path::Path;

/// The longest file of certificates, in bytes; that of a system has a quarter of it.
const MAX_LENGTH: u64 = 1 << 20;

pub(super) fn config(settings: &Settings) -> Result<ClientConfig, TransportError> {
    let tls = ClientTls {
        ca_files: settings.ca_files.clone(),
        trusts_system: false,
        certificate: settings.client_certificate.clone(),
    };
    let paths = tls.paths();
    let contents: Vec<_> = paths
        .iter()
        .map(|path| read(path))
        .collect::<Result<_, _>>()?;
    let mut config = tls.config(&contents).map_err(|error| match error {
        ClientTlsError::File(FileError::Contents { path, problem }) => {
            TransportError::File { path, problem }
        }
        ClientTlsError::SystemRoots(problem) => TransportError::SystemRoots(problem),
        error => TransportError::Tls(error.to_string()),
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn read(path: &Path) -> Result<Vec<u8>, TransportError> {
    crate::files::read(path, MAX_LENGTH).map_err(|problem| TransportError::file(path, problem))
}
