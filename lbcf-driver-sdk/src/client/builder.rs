//! Setting up connections: whom to trust, who one is, and limits.

use super::http_client::{HttpClient, Settings, Tls, TlsPoolFiles};
use super::reread::Reread;
use super::tls_files::TlsFiles;
use super::token::{self, Token, TokenFile};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// How often files are looked at by default.
const REREAD_EVERY: Duration = Duration::from_secs(10);

/// Sets up an [`HttpClient`].
///
/// ```no_run
/// use lbcf_driver_sdk::client::{DriverClient, HttpClient};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let http = HttpClient::builder()
///     .ca_file("/etc/lbcf/ca.crt")
///     .client_certificate_files("/etc/lbcf/tls.crt", "/etc/lbcf/tls.key")
///     .token_file("/var/run/secrets/lbcf/token")
///     .connect_timeout(Duration::from_secs(3))
///     .build()?;
/// let driver = DriverClient::with_http(http, "https://driver.example/lbcf")?;
/// # let _ = driver;
/// # Ok(())
/// # }
/// ```
///
/// All files are in PEM, but for the token's, and all are read again when they change: they are
/// looked at before a call when the last look is [some time](Self::reread_files_every) ago.
/// Connections made with the old certificates end with what they are used for. When new contents
/// cannot be used, the log says so once and the old ones stay in use.
#[derive(Clone, Default)]
pub struct HttpClientBuilder {
    settings: Settings,
    tls: TlsFiles,
    token: TokenSource,
    reread_every: Option<Duration>,
}

#[derive(Clone, Default)]
enum TokenSource {
    #[default]
    None,
    Value(String),
    File(PathBuf),
}

/// Why connections cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// A file cannot be read, or what is in it cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it. Nothing of its contents is quoted.
        problem: String,
    },
    /// The token cannot be sent.
    #[error("{0}")]
    Token(&'static str),
    /// The system names nobody to be trusted, and nobody else does.
    #[error("the system's root certificates cannot be used: {0}")]
    SystemRoots(String),
    /// TLS cannot be set up.
    #[error("setting up TLS: {0}")]
    Tls(String),
}

impl HttpClientError {
    pub(super) fn file(path: &Path, problem: impl fmt::Display) -> Self {
        Self::File {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

impl HttpClientBuilder {
    /// Trusts the CAs of a file, and no longer those of the system. May be given several times.
    #[must_use]
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tls.roots.push(path.into());
        self
    }

    /// Trusts the system's CAs, too, where [`ca_file`](Self::ca_file) names others.
    #[must_use]
    pub const fn trust_system_roots(mut self) -> Self {
        self.tls.trusts_system = true;
        self
    }

    /// Shows drivers that ask for one a certificate, which may be followed by those that lead to
    /// its CA, with its key.
    #[must_use]
    pub fn client_certificate_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.tls.client = Some((certificate.into(), key.into()));
        self
    }

    /// Sends a token with each call: `Authorization: Bearer TOKEN`. Where the driver's URL has user
    /// and password, these are sent instead.
    ///
    /// It is sent over https and to this machine (`localhost` and loopback addresses) only, unless
    /// [`allow_token_over_http`](Self::allow_token_over_http) says otherwise; elsewhere it is left
    /// out, and an error about status 401 or 403 says that. It is sent to every driver that is
    /// called over this client.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = TokenSource::Value(token.into());
        self
    }

    /// The same with the token in a file that has nothing else. White space around it is left out.
    #[must_use]
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token = TokenSource::File(path.into());
        self
    }

    /// Sends the token over plain http as well, where anybody on the way can read it.
    #[must_use]
    pub const fn allow_token_over_http(mut self) -> Self {
        self.settings.allow_token_over_http = true;
        self
    }

    /// How long finding the driver's address, connecting and the TLS handshake may take together
    /// (default: as long as the call).
    #[must_use]
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = Some(limit);
        self
    }

    /// How long a connection is kept that nobody uses (default 4 s). Stay below what drivers
    /// allow: a call that is sent at the very moment when the driver hangs up fails.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.settings.idle_timeout = limit;
        self
    }

    /// How many connections to one host and port are kept that nobody uses (default: no limit).
    /// There are as many in use as there are calls.
    #[must_use]
    pub const fn idle_connections_per_host(mut self, limit: usize) -> Self {
        self.settings.idle_per_host = limit;
        self
    }

    /// How many bytes the body of an answer may have (default 4 MiB). Its head may have about
    /// 400 KiB.
    #[must_use]
    pub const fn response_limit(mut self, bytes: usize) -> Self {
        self.settings.response_limit = bytes;
        self
    }

    /// How long files are believed to be unchanged (default 10 s).
    #[must_use]
    pub const fn reread_files_every(mut self, interval: Duration) -> Self {
        self.reread_every = Some(interval);
        self
    }

    /// The client. This reads the files, and blocks for as long as that takes.
    ///
    /// # Errors
    /// [`HttpClientError`], which names the file and what is wrong with it.
    pub fn build(self) -> Result<HttpClient, HttpClientError> {
        let Self {
            settings,
            tls: files,
            token,
            reread_every,
        } = self;
        let interval = reread_every.unwrap_or(REREAD_EVERY);
        let tls = if files.is_empty() {
            Tls::System(OnceLock::new())
        } else {
            let settings = settings.clone();
            Tls::Files(Reread::new(TlsPoolFiles { files, settings }, interval)?)
        };
        let token = match token {
            TokenSource::None => None,
            TokenSource::Value(token) => Some(Token::Value(
                token::bearer(token.as_bytes()).map_err(HttpClientError::Token)?,
            )),
            TokenSource::File(path) => Some(Token::File(Reread::new(TokenFile(path), interval)?)),
        };
        Ok(HttpClient::from_parts(tls, token, settings))
    }
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token: &dyn fmt::Debug = match &self.token {
            TokenSource::None => &None::<()>,
            TokenSource::Value(_) => &format_args!("***"),
            TokenSource::File(path) => path,
        };
        f.debug_struct("HttpClientBuilder")
            .field("settings", &self.settings)
            .field("tls", &self.tls)
            .field("token", token)
            .field("reread_every", &self.reread_every)
            .finish()
    }
}
