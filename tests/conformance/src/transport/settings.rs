//! The settings of a transport besides the URL, and its errors.

use http::HeaderMap;
use lbcf_driver_client::InvalidUrl;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a transport besides the URL.
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
    /// PEM files with the trusted roots for https; empty for the system's roots.
    pub ca_files: Vec<PathBuf>,
    /// PEM files with the client certificate and its key, for https.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Sent as `Authorization: Bearer …`, instead of the URL's user and password.
    pub token: Option<String>,
    /// Headers of each request. Reports only show the names, because the values may be secret.
    pub headers: HeaderMap,
    /// The limit for DNS, TCP and TLS together; 5 s by default.
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

/// An invalid URL or setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Not an absolute http or https URL.
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    /// An invalid file of certificates or keys.
    #[error("{}: {problem}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The problem of its contents.
        problem: String,
    },
    /// The system has no trusted roots.
    #[error("the system's root certificates: {0}; pass a file with --ca-file")]
    SystemRoots(String),
    /// The token is not a valid header value. The message does not contain it.
    #[error(
        "the token contains characters that headers do not allow: only visible ASCII is allowed"
    )]
    Token,
    /// TLS cannot be set up.
    #[error("TLS: {0}")]
    Tls(String),
}
