//! Setting up connections: trusted CAs, the client's certificate and token, and limits.

use crate::proxy::Proxies;
use lbcf_serving::secret::Secret;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of an [`HttpClient`](crate::HttpClient).
///
/// ```no_run
/// use lbcf_driver_client::{DriverClient, HttpClient, HttpClientSettings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let http = HttpClient::with(HttpClientSettings {
///     ca_files: vec!["/etc/lbcf/ca.crt".into()],
///     client_certificate: Some(("/etc/lbcf/tls.crt".into(), "/etc/lbcf/tls.key".into())),
///     token_file: Some("/var/run/secrets/lbcf/token".into()),
///     ..HttpClientSettings::default()
/// })?;
/// let driver = DriverClient::with_http(http, "https://driver.example/lbcf")?;
/// # let _ = driver;
/// # Ok(())
/// # }
/// ```
///
/// All files but the token's are in PEM. They are read again before a call when the last time is
/// [some time](Self::reread_files_every) ago. Connections with old certificates end with their
/// response. When new contents cannot be used, that is logged once, and the old ones stay in use.
#[derive(Debug, Clone)]
pub struct HttpClientSettings {
    /// Files with the CAs to trust instead of those of the system (default: none).
    pub ca_files: Vec<PathBuf>,
    /// Trusts the system's CAs, too, where [`ca_files`](Self::ca_files) names others (default: no).
    pub trust_system_roots: bool,
    /// The files of the certificate for drivers that ask for one, which may be followed by those that lead to
    /// its CA, and of its private key (default: none).
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// A token that is sent with each call: `Authorization: Bearer TOKEN` (default: none). User and password
    /// in a driver's URL are sent instead.
    ///
    /// It is sent over https and to this machine (`localhost` and loopback addresses) only, unless
    /// [`allow_token_over_http`](Self::allow_token_over_http) is set; elsewhere it is left out, and
    /// an error about status 401 or 403 mentions it. Every driver that is called over this client
    /// gets it.
    pub token: Option<Secret>,
    /// A file with the token and nothing else, instead of [`token`](Self::token) (default: none). White space
    /// around it is ignored.
    pub token_file: Option<PathBuf>,
    /// Sends the token over plain http as well, where others on the network can read it (default: no).
    pub allow_token_over_http: bool,
    /// The proxies between this client and drivers (default: none). The address of a driver that is reached by one is
    /// the proxy's, also for [`HttpClient::with_address_check`](crate::HttpClient::with_address_check).
    pub proxies: Proxies,
    /// The time that finding the driver's address, connecting and the TLS handshake may take together
    /// (default: as long as the call).
    pub connect_timeout: Option<Duration>,
    /// The time that an idle connection is kept (default 4 s). Stay below what drivers allow: a call that
    /// is sent at the moment when the driver closes the connection fails.
    pub idle_timeout: Duration,
    /// The number of idle connections to one host and port that are kept (default: no limit). The
    /// number in use is that of the calls.
    pub idle_connections_per_host: usize,
    /// The number of bytes that the body of a response may have (default 4 MiB). Its head may have 16
    /// KiB. All bodies of more than 64 KiB together may have 64 MiB, or this if it is more.
    pub response_limit: usize,
    /// The interval at which files are read again (default 10 s).
    pub reread_files_every: Duration,
}

impl Default for HttpClientSettings {
    fn default() -> Self {
        Self {
            ca_files: Vec::new(),
            trust_system_roots: false,
            client_certificate: None,
            token: None,
            token_file: None,
            allow_token_over_http: false,
            proxies: Proxies::default(),
            connect_timeout: None,
            // Servers close idle connections, Node's after 5 s, and a request that is sent at that
            // moment fails.
            idle_timeout: Duration::from_secs(4),
            idle_connections_per_host: usize::MAX,
            response_limit: 4 << 20,
            reread_files_every: Duration::from_secs(10),
        }
    }
}
