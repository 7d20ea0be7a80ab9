//! How a driver is reached beyond its URL, and what can be wrong with that.

use http::HeaderMap;
use lbcf_driver_sdk::client::InvalidUrl;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a driver is reached beyond its URL.
///
/// ```
/// use lbcf_conformance::transport::Settings;
///
/// let settings = Settings {
///     token: Some("secret".into()),
///     ..Settings::default()
/// };
/// assert!(!format!("{settings:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct Settings {
    /// PEM files with the roots to trust, for https; without any the system's roots are trusted.
    pub ca_files: Vec<PathBuf>,
    /// PEM files with the kit's own certificate and its key, for https.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Sent as `Authorization: Bearer …`, also where the URL has a user and a password.
    pub token: Option<String>,
    /// Sent with each request. Reports show their names only: they may hold secrets.
    pub headers: HeaderMap,
    /// How long finding the address, TCP and TLS may take together.
    pub connect_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ca_files: Vec::new(),
            client_certificate: None,
            token: None,
            headers: HeaderMap::new(),
            connect_timeout: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("ca_files", &self.ca_files)
            .field("client_certificate", &self.client_certificate)
            .field("token", &self.token.as_ref().map(|_| "***"))
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}

/// Why a driver cannot even be called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Not a URL at which a driver can be called.
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    /// A file of certificates or keys that cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The system has no roots to trust.
    #[error("the system's root certificates: {0}; name a file of them")]
    SystemRoots(String),
    /// The token cannot be sent. It is not shown.
    #[error("the token has characters that no header may have: visible ASCII is allowed")]
    Token,
    /// TLS cannot be set up.
    #[error("TLS: {0}")]
    Tls(String),
}

impl TransportError {
    pub(super) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File {
            path: path.to_owned(),
            problem: problem.into(),
        }
    }
}
