//! A certificate and its key from files, read again when they change.
//!
//! Files of a mounted Secret are links that are switched over, with times that say nothing, so
//! that only their contents tell whether they changed.

use super::certificates::PrivatePem;
use super::reload::CurrentCertificate;
use super::server_certificate::{ServerCertificate, Unusable};
use crate::error_text::in_full;
use jiff::Timestamp;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// No certificate and no key is longer.
const MAX_LENGTH: u64 = 256 * 1024;
/// How long reading may take, for file systems that hang.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Why files are not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FilesError {
    /// A file cannot be read.
    #[error("reading {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// What is in the files cannot be served.
    #[error("{cert} with the key {key}: {source}")]
    Unusable {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong.
        #[source]
        source: Unusable,
    },
    /// Nobody would accept the certificate.
    #[error("{cert}: the certificate was valid until {end}")]
    Expired {
        /// The certificate's file.
        cert: PathBuf,
        /// When it ended.
        end: Timestamp,
    },
}

/// A certificate and its key in files.
#[derive(Debug)]
pub(super) struct CertificateFiles {
    cert: PathBuf,
    key: PathBuf,
    /// What was read last, good or bad.
    contents: Option<Contents>,
    /// What was told last, so that it is told once.
    told: Option<String>,
    current: Arc<CurrentCertificate>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Contents {
    cert: Vec<u8>,
    key: PrivatePem,
}

impl CertificateFiles {
    pub(super) const fn new(cert: PathBuf, key: PathBuf, current: Arc<CurrentCertificate>) -> Self {
        Self {
            cert,
            key,
            contents: None,
            told: None,
            current,
        }
    }

    /// Serves what is in the files, if that changed. On failure the certificate stays that was
    /// served before.
    pub(super) async fn load(&mut self, now: Timestamp) -> Result<(), FilesError> {
        let contents = self.read().await?;
        if self.contents.as_ref() == Some(&contents) {
            return Ok(());
        }
        let certificate = self.certificate(&contents, now);
        // What is bad is not read once more until it changes.
        let is_first = self.contents.replace(contents).is_none();
        let certificate = certificate?;
        self.current.replace(&certificate);
        tracing::info!(
            path = %self.cert.display(),
            until = %certificate.validity().end(),
            is_first,
            "serving this certificate"
        );
        Ok(())
    }

    /// Looks at the files time and again, for ever.
    pub(super) async fn watch(mut self, interval: Duration, clock: fn() -> Timestamp) {
        loop {
            tokio::time::sleep(interval).await;
            self.look_again(clock()).await;
        }
    }

    pub(super) async fn look_again(&mut self, now: Timestamp) {
        match self.load(now).await {
            Ok(()) => self.told = None,
            Err(error) => {
                let error = in_full(&error);
                if self.told.as_ref() != Some(&error) {
                    tracing::warn!(
                        error,
                        "the certificate stays the one that was served before"
                    );
                }
                self.told = Some(error);
            }
        }
    }

    async fn read(&self) -> Result<Contents, FilesError> {
        Ok(Contents {
            cert: read(&self.cert).await?,
            key: PrivatePem(read(&self.key).await?),
        })
    }

    fn certificate(
        &self,
        contents: &Contents,
        now: Timestamp,
    ) -> Result<ServerCertificate, FilesError> {
        let certificate =
            ServerCertificate::read(&contents.cert, &contents.key).map_err(|source| {
                FilesError::Unusable {
                    cert: self.cert.clone(),
                    key: self.key.clone(),
                    source,
                }
            })?;
        if certificate.validity().is_over(now) {
            return Err(FilesError::Expired {
                cert: self.cert.clone(),
                end: certificate.validity().end(),
            });
        }
        Ok(certificate)
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, FilesError> {
    let owned = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || read_blocking(&owned));
    let read = match tokio::time::timeout(READ_TIMEOUT, reading).await {
        Ok(Ok(read)) => read,
        Ok(Err(broken)) => Err(broken.into()),
        Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
    };
    read.map_err(|source| FilesError::Read {
        path: path.to_owned(),
        source,
    })
}

fn read_blocking(path: &Path) -> std::io::Result<Vec<u8>> {
    // Opening what is no file may wait for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a file"));
    }
    let mut contents = Vec::new();
    File::open(path)?
        .take(MAX_LENGTH + 1)
        .read_to_end(&mut contents)?;
    if contents.len() as u64 > MAX_LENGTH {
        let message = format!("longer than {MAX_LENGTH} bytes, as no certificate or key is");
        return Err(std::io::Error::other(message));
    }
    Ok(contents)
}
