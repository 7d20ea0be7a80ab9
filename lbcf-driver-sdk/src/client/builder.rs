//! Setting up connections: trusted CAs, the client's certificate and token, and limits.

use super::error::HttpClientError;
use super::http_client::{HttpClient, Settings, Tls};
use super::token::{self, Token};
use lbcf_serving::tls::ClientTls;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// The interval at which files are read by default.
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
/// All files but the token's are in PEM. They are read again before a call when the last time is
/// [some time](Self::reread_files_every) ago. Connections with old certificates end with their
/// response. When new contents cannot be used, that is logged once, and the old ones stay in use.
#[derive(Clone, Default)]
pub struct HttpClientBuilder {
    settings: Settings,
    tls: ClientTls,
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

impl HttpClient {
    /// Builds a pool with other certificates, a token or other limits.
    #[must_use]
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder::default()
    }
}

impl HttpClientBuilder {
    /// Trusts the CAs of a file, and no longer those of the system. May be given several times.
    #[must_use]
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tls.ca_files.push(path.into());
        self
    }

    /// Trusts the system's CAs, too, where [`ca_file`](Self::ca_file) names others.
    #[must_use]
    pub const fn trust_system_roots(mut self) -> Self {
        self.tls.trusts_system = true;
        self
    }

    /// Sends drivers that ask for one this certificate, which may be followed by those that lead to
    /// its CA. `key` is its private key.
    #[must_use]
    pub fn client_certificate_files(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.tls.certificate = Some((certificate.into(), key.into()));
        self
    }

    /// Sends a token with each call: `Authorization: Bearer TOKEN`. User and password in a driver's
    /// URL are sent instead.
    ///
    /// It is sent over https and to this machine (`localhost` and loopback addresses) only, unless
    /// [`allow_token_over_http`](Self::allow_token_over_http) is set; elsewhere it is left out, and
    /// an error about status 401 or 403 mentions it. Every driver that is called over this client
    /// gets it.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = TokenSource::Value(token.into());
        self
    }

    /// Sends the token in a file that has nothing else. White space around it is ignored.
    #[must_use]
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token = TokenSource::File(path.into());
        self
    }

    /// Sends the token over plain http as well, where others on the network can read it.
    #[must_use]
    pub const fn allow_token_over_http(mut self) -> Self {
        self.settings.allow_token_over_http = true;
        self
    }

    /// The time that finding the driver's address, connecting and the TLS handshake may take together
    /// (default: as long as the call).
    #[must_use]
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = Some(limit);
        self
    }

    /// The time that an idle connection is kept (default 4 s). Stay below what drivers allow: a call that
    /// is sent at the moment when the driver closes the connection fails.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.settings.idle_timeout = limit;
        self
    }

    /// The number of idle connections to one host and port that are kept (default: no limit). The
    /// number in use is that of the calls.
    #[must_use]
    pub const fn idle_connections_per_host(mut self, limit: usize) -> Self {
        self.settings.idle_per_host = limit;
        self
    }

    /// The number of bytes that the body of a response may have (default 4 MiB). Its head may have about
    /// 400 KiB.
    #[must_use]
    pub const fn response_limit(mut self, bytes: usize) -> Self {
        self.settings.response_limit = bytes;
        self
    }

    /// The interval at which files are read again (default 10 s).
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
        let tls = if files.needs_no_files() {
            Tls::System(OnceLock::new())
        } else {
            Tls::from_files(files, settings.clone(), interval)?
        };
        let token = match token {
            TokenSource::None => None,
            TokenSource::Value(token) => Some(Token::Value(
                token::bearer(token.as_bytes()).map_err(HttpClientError::Token)?,
            )),
            TokenSource::File(path) => Some(Token::from_file(path, interval)?),
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
