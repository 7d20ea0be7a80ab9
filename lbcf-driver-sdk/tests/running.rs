//! A server on a free port, and a client with access to each connection.

use crate::support::{HookGate, actor, ensure};
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use lbcf_driver_sdk::server::{Ending, Server, Settings};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use std::error::Error;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::certificates::NAME;

/// The deadline of waiting for anything in a test.
pub(crate) const SOON: Duration = Duration::from_secs(60);
pub(crate) const FREE_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Short enough for a test to wait for it.
pub(crate) const SHORT: Duration = Duration::from_millis(100);
/// Longer than any test.
pub(crate) const LONG: Duration = Duration::from_secs(3600);

/// Why a call has no response.
pub(crate) type Refused = Box<dyn Error + Send + Sync>;

pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) probes: Option<SocketAddr>,
    pub(crate) url: String,
    pub(crate) stage: Arc<HookGate>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Ending>,
}

impl Running {
    pub(crate) async fn start(configure: impl FnOnce(&mut Settings)) -> Self {
        let (actor, stage) = actor();
        let mut settings = Settings {
            listen: FREE_PORT,
            reload_every: Duration::from_millis(10),
            ..Settings::default()
        };
        configure(&mut settings);
        let server = Server::with(actor, settings).bind().await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        Self {
            addr: server.addr(),
            probes: server.probes_addr(),
            url: server.url(),
            stage,
            stop,
            task: tokio::spawn(server.run_until(async { drop(stopped.await) })),
        }
    }

    /// Starts the shutdown; the task ends with it.
    pub(crate) fn stop(self) -> JoinHandle<Ending> {
        self.stop.send(()).unwrap();
        self.task
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.addr, None).await.unwrap()
    }

    /// Whether the driver ran the call of this connection.
    pub(crate) async fn acts(&self, client: Result<Client, Refused>) -> Result<(), Refused> {
        let calls = self.stage.log().len();
        let answered = match client {
            Ok(mut client) => client.ensure(json!({})).await,
            Err(refused) => Err(refused),
        };
        let was_called = self.stage.log().len() > calls;
        match answered {
            Ok((StatusCode::OK, answer)) => {
                assert_eq!(answer["status"], "Succ");
                assert!(was_called);
                Ok(())
            }
            Ok((status, answer)) => {
                assert!(!was_called, "the driver was called");
                Err(format!("{status}: {answer}").into())
            }
            Err(refused) => {
                assert!(!was_called, "the driver was called");
                Err(refused)
            }
        }
    }
}

pub(crate) struct Client {
    sender: SendRequest<Body>,
    ended: JoinHandle<()>,
    pub(crate) token: Option<&'static str>,
}

impl Client {
    pub(crate) async fn connect(
        addr: SocketAddr,
        tls: Option<&TlsConnector>,
    ) -> Result<Self, Refused> {
        let stream = timeout(SOON, TcpStream::connect(addr)).await??;
        let Some(tls) = tls else {
            let (sender, connection) = handshake(TokioIo::new(stream)).await?;
            return Ok(Self::new(sender, connection));
        };
        let name = ServerName::try_from(NAME)?;
        let stream = timeout(SOON, tls.connect(name, stream)).await??;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        Ok(Self::new(sender, connection))
    }

    fn new(
        sender: SendRequest<Body>,
        connection: impl Future<Output = hyper::Result<()>> + Send + 'static,
    ) -> Self {
        let ended = tokio::spawn(async { drop(connection.await) });
        Self {
            sender,
            ended,
            token: None,
        }
    }

    pub(crate) async fn send(
        &mut self,
        request: Request<Body>,
    ) -> Result<(StatusCode, HeaderMap, String), Refused> {
        let answer = async {
            self.sender.ready().await?;
            let response = self.sender.send_request(request).await?;
            let (head, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            // Other types are compressed, and not checked.
            let body = String::from_utf8_lossy(&body).into_owned();
            Ok((head.status, head.headers, body))
        };
        timeout(SOON, answer).await?
    }

    /// The status and the JSON, or text, of a response.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: impl Into<Body>,
    ) -> Result<(StatusCode, Value), Refused> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let (status, _, body) = self.send(request.body(body.into()).unwrap()).await?;
        Ok((
            status,
            serde_json::from_str(&body).unwrap_or_else(|_| body.into()),
        ))
    }

    pub(crate) async fn get(&mut self, path: &str) -> (StatusCode, Value) {
        self.call("GET", path, Body::empty()).await.unwrap()
    }

    /// `ensureBackend` with these parameters.
    pub(crate) async fn ensure(
        &mut self,
        parameters: Value,
    ) -> Result<(StatusCode, Value), Refused> {
        let body = ensure("1", parameters).to_string();
        self.call("POST", "/ensureBackend", body).await
    }

    /// Waits until the server has closed the connection.
    pub(crate) async fn closed(self) {
        timeout(SOON, self.ended).await.unwrap().unwrap();
    }
}

/// Waits until the condition holds.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, waiting).await.expect(what);
}
