//! Calls webhooks over HTTPS, and resolves the services that they are behind.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::CertificateError;
use tokio::net::{TcpStream, lookup_host};
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use super::response::RawResponse;
use super::tls::tls_config;
use super::webhook::Webhook;

/// The maximum size of a response in bytes: that of an object, which a patch can contain.
const MAX_RESPONSE: usize = 3 * 1024 * 1024;
/// At most this many clients are kept, each for one CA bundle.
const MAX_CLIENTS: usize = 64;
/// The time that an idle connection is kept, and the number of them to one server.
const IDLE: Duration = Duration::from_secs(90);
const MAX_IDLE: usize = 16;

type Dialer = BoxCloneSyncService<Uri, TokioIo<TcpStream>, DialError>;
type HttpsClient = Client<HttpsConnector<Dialer>, Full<Bytes>>;

/// Calls webhooks over pooled connections.
#[derive(Debug)]
pub(super) struct WebhookClient {
    services: ServiceResolver,
    /// The clients, each for one CA bundle.
    clients: Mutex<HashMap<Vec<u8>, HttpsClient>>,
}

impl WebhookClient {
    pub(super) fn new(services: BTreeMap<String, String>) -> Self {
        Self {
            services: ServiceResolver::new(services),
            clients: Mutex::default(),
        }
    }

    pub(super) fn set_service(&self, service: String, address: String) {
        self.services.set(service, address);
        // Pooled connections lead to the former address.
        self.clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Posts a review. The error is the reason why there is no response.
    pub(super) async fn post(
        &self,
        webhook: &Webhook,
        review: Bytes,
        timeout: Duration,
    ) -> Result<RawResponse, String> {
        let client = self
            .client(&webhook.ca_bundle)
            .map_err(|why| format!("could not get REST client: {why}"))?;
        // `timeout` is in whole seconds, rounded up.
        let seconds = timeout.as_millis().div_ceil(1000).max(1);
        let url = format!("{}?timeout={seconds}s", webhook.url);
        let response = tokio::time::timeout(timeout, exchange(&client, &url, review)).await;
        response
            .unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
            .map_err(|why| format!("failed to call webhook: Post {url:?}: {why}"))
    }

    fn client(&self, ca_bundle: &[u8]) -> Result<HttpsClient, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(ca_bundle) {
            return Ok(client.clone());
        }
        let connector = HttpsConnector::from((dialer(&self.services), tls_config(ca_bundle)?));
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .pool_timer(TokioTimer::new())
            .build(connector);
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(ca_bundle.to_vec(), client.clone());
        Ok(client)
    }
}

async fn exchange(client: &HttpsClient, url: &str, review: Bytes) -> Result<RawResponse, String> {
    let request = Request::builder()
        .method(Method::POST)
        .uri(url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, */*")
        .header(USER_AGENT, "kube-apiserver-admission")
        .body(Full::new(review))
        .map_err(|e| e.to_string())?;
    let response = client.request(request).await.map_err(|e| cause(&e))?;
    let (parts, body) = response.into_parts();
    let content_type = parts.headers.get(CONTENT_TYPE);
    let body = match Limited::new(body, MAX_RESPONSE).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => {
            return Err(format!("the response is larger than {MAX_RESPONSE} bytes"));
        }
        Err(error) => return Err(cause(&*error)),
    };
    Ok(RawResponse {
        code: parts.status.as_u16(),
        content_type: content_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
        body,
    })
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct DialError(pub(super) String);

/// The addresses of services: this cluster has no service network.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceResolver(Arc<RwLock<BTreeMap<String, String>>>);

impl ServiceResolver {
    pub(super) fn new(services: BTreeMap<String, String>) -> Self {
        Self(Arc::new(RwLock::new(services)))
    }

    pub(super) fn set(&self, service: String, address: String) {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(service, address);
    }

    /// The address behind a URL.
    fn address(&self, uri: &Uri) -> Result<String, DialError> {
        let host = uri.host().unwrap_or_default();
        if !host.ends_with(".svc") {
            return Ok(format!("{host}:{}", uri.port_u16().unwrap_or(443)));
        }
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(host).cloned().ok_or_else(|| {
            DialError(format!(
                "dial tcp: service {host:?} has no address: this cluster has no service network, so LocalClusterOptions::service_addresses must contain its address"
            ))
        })
    }
}

fn dialer(services: &ServiceResolver) -> Dialer {
    let services = services.clone();
    BoxCloneSyncService::new(service_fn(move |uri: Uri| {
        let address = services.address(&uri);
        async move { dial(&address?).await.map(TokioIo::new) }
    }))
}

async fn dial(address: &str) -> Result<TcpStream, DialError> {
    let nowhere = || DialError(format!("dial tcp: lookup {address}: no such host"));
    let mut failed = None;
    for address in lookup_host(address).await.map_err(|_| nowhere())? {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "cannot set TCP_NODELAY on a connection to a webhook");
                }
                return Ok(stream);
            }
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::ConnectionRefused => "connection refused".to_owned(),
                    _ => error.to_string(),
                };
                failed = Some(DialError(format!("dial tcp {address}: connect: {why}")));
            }
        }
    }
    Err(failed.unwrap_or_else(nowhere))
}

/// The innermost known cause of a client error.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut current = Some(error);
    let mut last = error.to_string();
    while let Some(error) = current {
        if let Some(error) = error.downcast_ref::<DialError>() {
            return error.to_string();
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return tls(error);
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message() || error.is_canceled())
        {
            return "EOF".to_owned();
        }
        last = error.to_string();
        current = match error.downcast_ref::<io::Error>() {
            Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => return "EOF".to_owned(),
            // An error inside an I/O error is not its source.
            Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    last
}

fn tls(error: &rustls::Error) -> String {
    let why = match error {
        // A recreated CA has the same name but another key.
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => "certificate signed by unknown authority".to_owned(),
        rustls::Error::InvalidCertificate(error) => error.to_string(),
        // A server that does not speak TLS sends an invalid message.
        rustls::Error::InvalidMessage(_) => {
            return "tls: first record does not look like a TLS handshake".to_owned();
        }
        other => return format!("tls: {other}"),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::webhook::webhooks_of;
    use crate::object::object;
    use crate::store::Stored;
    use serde_json::json;

    #[tokio::test]
    async fn the_timeout_is_sent_in_whole_seconds() {
        let service = json!({"name": "s", "namespace": "n"});
        let webhook = json!({"name": "a.x.y", "clientConfig": {"service": service}});
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": [webhook]});
        let webhook = webhooks_of(&Stored::new(object(configuration), 1)).remove(0);
        let client = WebhookClient::new(BTreeMap::new());
        for (millis, expected) in [(0, "1s"), (999, "1s"), (1000, "1s"), (1001, "2s")] {
            let timeout = Duration::from_millis(millis);
            let failed = client
                .post(&webhook, Bytes::new(), timeout)
                .await
                .unwrap_err();
            let url = format!("Post \"https://s.n.svc:443/?timeout={expected}\": ");
            assert!(failed.contains(&url), "{failed}");
        }
    }

    fn address(url: &str) -> Result<String, DialError> {
        let known = [("a.b.svc".to_owned(), "127.0.0.1:9".to_owned())];
        ServiceResolver::new(known.into_iter().collect()).address(&url.parse().unwrap())
    }

    #[test]
    fn services_are_looked_up_and_hosts_taken_as_they_are() {
        assert_eq!(address("https://a.b.svc:443/x").unwrap(), "127.0.0.1:9");
        assert_eq!(address("https://h/x").unwrap(), "h:443");
        assert_eq!(address("https://[::1]:8443/").unwrap(), "[::1]:8443");
        let unknown = address("https://c.b.svc:443/").unwrap_err();
        assert!(
            unknown.0.contains("service \"c.b.svc\" has no address"),
            "{unknown}"
        );
    }

    #[tokio::test]
    async fn errors_name_the_address() {
        // Bound, so that nothing else takes the port, and not listening.
        let refusing = tokio::net::TcpSocket::new_v4().unwrap();
        refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = refusing.local_addr().unwrap();
        let refused = dial(&address.to_string()).await.unwrap_err();
        assert_eq!(
            refused.0,
            format!("dial tcp {address}: connect: connection refused")
        );
        assert!(
            dial("no port")
                .await
                .unwrap_err()
                .0
                .contains("no such host")
        );
    }

    #[test]
    fn causes_are_found_under_their_layers() {
        let refused = DialError("dial tcp 127.0.0.1:1: connect: connection refused".to_owned());
        let layered = io::Error::other(io::Error::other(refused.clone()));
        assert_eq!(cause(&layered), refused.0);
        let issuer = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let layered = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, issuer));
        assert_eq!(
            cause(&layered),
            "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        );
        assert_eq!(cause(&io::Error::from(io::ErrorKind::UnexpectedEof)), "EOF");
    }
}
