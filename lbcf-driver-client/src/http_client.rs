//! Connections to drivers, pooled.

use crate::connector::{AddressCheck, Tcp, Within};
use crate::error::{CallError, HttpClientError};
use crate::exchange::ResponseLimits;
use crate::proxy::Proxied;
use crate::request_body::RequestBody;
use crate::settings::HttpClientSettings;
use crate::token::{self, Token};
use crate::url::DriverUrl;
use ::http::uri::Scheme;
use ::http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use lbcf_serving::body::BodyBudget;
use lbcf_serving::secret::Secret;
use lbcf_serving::tls::ClientTls;
use lbcf_serving::watched_file::{RereadFiles, WatchedFiles};
use rustls::ClientConfig;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// A pool of HTTP/1 connections that clients of several drivers may share. Clones share the pool, and
/// compare equal.
///
/// ```
/// use lbcf_driver_client::{DriverClient, HttpClient};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let http = HttpClient::new();
/// let one = DriverClient::with_http(http.clone(), "http://one.example/lbcf")?;
/// let other = DriverClient::with_http(http, "https://other.example")?;
/// # let _ = (one, other);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    plain: Client<Within<Tcp>, RequestBody>,
    /// With the certificates that it was made for. It is replaced when they change, so that no connection outlives its
    /// certificates: idle ones end, those in use end with their response.
    over_tls: Mutex<Option<(Arc<ClientConfig>, TlsPool)>>,
    certificates: Arc<Certificates>,
    token: Option<Arc<Token>>,
    responses: BodyBudget,
    settings: HttpClientSettings,
    addresses: AddressCheck,
}

type TlsPool = Client<Within<HttpsConnector<Proxied<Tcp>>>, RequestBody>;

/// In bytes; a system's CAs take a quarter of it.
const MAX_CA_FILE: u64 = 1 << 20;

/// The bytes of a response's head, and the most that are read of a body at a time.
const HEAD: usize = 16 << 10;

/// The memory, in bytes, of all responses of more than 64 KiB that are arriving or being decoded.
const RESPONSES: usize = 64 << 20;
/// The memory of an entry of a map of strings, in bytes.
const ENTRY: usize = 128;

enum Certificates {
    /// The system's root certificates are trusted.
    System,
    Files(RereadFiles<Arc<ClientConfig>, HttpClientError>),
}

impl Certificates {
    fn from_files(files: ClientTls, interval: Duration) -> Result<Self, HttpClientError> {
        let watched =
            WatchedFiles::new("TLS for calling drivers", files.paths(), move |contents| {
                Ok(Arc::new(files.config(contents)?))
            });
        let watched = watched.max_length(MAX_CA_FILE);
        Ok(Self::Files(RereadFiles::new(watched, interval)?))
    }
}

impl HttpClient {
    /// An empty pool that trusts the system's root certificates, which are read at the first `https`
    /// call.
    #[must_use]
    pub fn new() -> Self {
        Self::from_parts(Certificates::System, None, HttpClientSettings::default())
    }

    /// An empty pool with other certificates, a token or other limits. This reads the files, and blocks for as
    /// long as that takes.
    ///
    /// # Errors
    /// [`HttpClientError`], which names the file and what is wrong with it.
    pub fn with(settings: HttpClientSettings) -> Result<Self, HttpClientError> {
        let files = ClientTls {
            ca_files: settings.ca_files.clone(),
            trusts_system: settings.trust_system_roots,
            certificate: settings.client_certificate.clone(),
        };
        let interval = settings.reread_files_every;
        let token = match (&settings.token, &settings.token_file) {
            (None, None) => None,
            (Some(Secret(token)), None) => Some(Token::Value(
                token::bearer(token.as_bytes()).map_err(HttpClientError::Token)?,
            )),
            (None, Some(path)) => Some(Token::from_file(path.clone(), interval)?),
            (Some(_), Some(_)) => {
                return Err(HttpClientError::Token(
                    "a token and a file of one: set one of the two",
                ));
            }
        };
        let certificates = match files.needs_no_files() {
            true => Certificates::System,
            false => Certificates::from_files(files, interval)?,
        };
        Ok(Self::from_parts(certificates, token, settings))
    }

    /// A client with the same settings and connections of its own, which connects only to addresses that the check
    /// allows. The check gets `http` or `https` and an address that a name was resolved to, each time that one is; its
    /// error is that of the call, [`CallError::NotSent`].
    ///
    /// ```
    /// use lbcf_driver_client::HttpClient;
    ///
    /// let http = HttpClient::new().with_address_check(|_scheme, address| match address.is_loopback() {
    ///     true => Err(format!("{address} is this machine")),
    ///     false => Ok(()),
    /// });
    /// # let _ = http;
    /// ```
    #[must_use]
    pub fn with_address_check(
        &self,
        check: impl Fn(&str, IpAddr) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self::pooling(
            Arc::clone(&self.0.certificates),
            self.0.token.clone(),
            self.0.settings.clone(),
            Arc::new(check),
        )
    }

    fn from_parts(
        certificates: Certificates,
        token: Option<Token>,
        settings: HttpClientSettings,
    ) -> Self {
        let (certificates, token) = (Arc::new(certificates), token.map(Arc::new));
        Self::pooling(certificates, token, settings, Arc::new(|_, _| Ok(())))
    }

    fn pooling(
        certificates: Arc<Certificates>,
        token: Option<Arc<Token>>,
        settings: HttpClientSettings,
        addresses: AddressCheck,
    ) -> Self {
        Self(Arc::new(Inner {
            plain: pooled(Tcp::new("http", Arc::clone(&addresses)), &settings),
            over_tls: Mutex::default(),
            certificates,
            token,
            responses: BodyBudget::new(RESPONSES.max(settings.response_limit), ENTRY),
            settings,
            addresses,
        }))
    }

    pub(crate) fn response_limits(&self) -> ResponseLimits<'_> {
        let bytes = self.0.settings.response_limit;
        ResponseLimits {
            bytes,
            all: RESPONSES.max(bytes),
            budget: &self.0.responses,
        }
    }

    pub(crate) async fn authorization(&self, url: &DriverUrl) -> Authorization {
        if let Some(own) = url.authorization() {
            return Authorization::Header(own);
        }
        match &self.0.token {
            None => Authorization::Nothing,
            Some(token) if url.is_private() || self.0.settings.allow_token_over_http => {
                Authorization::Header(token.header().await)
            }
            Some(_) => Authorization::Withheld,
        }
    }

    pub(crate) async fn send(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, CallError> {
        let url = request.uri().clone();
        let response = if request.uri().scheme() == Some(&Scheme::HTTPS) {
            self.tls_pool().await?.request(request).await
        } else {
            self.0.plain.request(request).await
        };
        response.map_err(|error| CallError::of_request(&url, error))
    }

    async fn tls_pool(&self) -> Result<TlsPool, CallError> {
        let config = match &*self.0.certificates {
            Certificates::System => system_tls().await.map_err(CallError::not_sent)?,
            Certificates::Files(files) => files.current().await,
        };
        let over_tls = self.0.over_tls.lock();
        let mut over_tls = over_tls.unwrap_or_else(PoisonError::into_inner);
        if let Some((its_config, pool)) = &*over_tls
            && Arc::ptr_eq(its_config, &config)
        {
            return Ok(pool.clone());
        }
        let tcp = Tcp::new("https", Arc::clone(&self.0.addresses));
        let proxied = Proxied::new(tcp, self.0.settings.proxies.clone());
        let connector = HttpsConnector::from((proxied, Arc::clone(&config)));
        let pool = pooled(connector, &self.0.settings);
        *over_tls = Some((config, pool.clone()));
        Ok(pool)
    }
}

pub(crate) enum Authorization {
    Nothing,
    Header(HeaderValue),
    /// The token is not sent, because the connection is not private.
    Withheld,
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for HttpClient {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HttpClient {}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

fn pooled<C>(connector: C, settings: &HttpClientSettings) -> Client<Within<C>, RequestBody>
where
    Within<C>: Connect + Clone,
{
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(settings.idle_timeout)
        .pool_max_idle_per_host(settings.idle_connections_per_host)
        .http1_max_buf_size(HEAD)
        // Retries on another connection if one was closed before anything was sent.
        .retry_canceled_requests(true)
        .build(Within::new(connector, settings.connect_timeout))
}

/// Reading the system's certificates takes many milliseconds of file access, so it is done once in a
/// process, at the first `https` call.
async fn system_tls() -> Result<Arc<ClientConfig>, String> {
    static CONFIG: OnceCell<Result<Arc<ClientConfig>, String>> = OnceCell::const_new();
    let config = CONFIG
        .get_or_init(|| async {
            match tokio::task::spawn_blocking(|| ClientTls::default().config(&[])).await {
                Ok(config) => config.map(Arc::new).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        })
        .await;
    config.clone()
}
