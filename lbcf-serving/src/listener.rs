//! An HTTP/1 listener for clients that may do anything.
//!
//! Each connection is a task of its own from its first byte on, with a permit among a limited
//! number and a timeout for whatever it waits for. `hyper-util` has graceful shutdown and
//! `axum-server` TLS that reloads, but neither limits connections or what each of them may cost.

mod activity;
mod body;
mod connection;
mod foreign_pages;
mod limits;
mod permits;
mod timed_io;

pub use activity::Connection;
pub use body::{GuardedBody, RequestBody};
pub use limits::Limits;

use crate::tls::ServerTls;
use connection::{BoxError, Settings, serve_connection};
use http::{Request, Response};
use http_body::Body;
use hyper::service::Service;
use permits::Permits;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// The pause in accepting when the operating system refuses, for want of files for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The response of Go's servers, and so of Kubernetes, to HTTP on an HTTPS port.
const NOT_TLS: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// A bound port, before it serves.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    addr: SocketAddr,
    limits: Limits,
    tls: Option<Arc<ServerTls>>,
    not_tls: &'static [u8],
    allowed_hosts: Vec<String>,
}

/// The connections of a port that is closed. Dropping them breaks them off.
#[derive(Debug)]
pub struct Connections(JoinSet<()>);

impl Listener {
    /// Binds the address; port 0 is a free one. Clients may connect from now on, and wait until it
    /// [serves](Self::serve).
    ///
    /// # Errors
    /// The operating system's.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        Self::try_from(TcpListener::bind(addr).await?)
    }

    /// Limits what clients may cost.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves HTTPS instead of plain HTTP.
    #[must_use]
    pub fn tls(mut self, tls: Arc<ServerTls>) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The whole response, head included, to clients that send plain HTTP to HTTPS (default: that
    /// of Go's servers).
    #[must_use]
    pub const fn not_tls_response(mut self, response: &'static [u8]) -> Self {
        self.not_tls = response;
        self
    }

    /// Names by which clients may call a server on a loopback address without TLS, beside `localhost` and
    /// loopback addresses (default: none). Elsewhere every name is allowed.
    #[must_use]
    pub fn allow_hosts(mut self, names: Vec<String>) -> Self {
        self.allowed_hosts = names;
        self
    }

    /// The address that it is bound to.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves until `stop` is ready; then the port is closed, and connections get no further
    /// requests. `make_service` makes the service of each connection; an error of the service
    /// breaks the connection off. Dropping the future breaks all of them off.
    ///
    /// Requests of other sites' pages in a browser do not reach the service: `refuse` makes the response to
    /// them, 403, of the reason. None is for a listener that passes requests on, whatever they are.
    pub async fn serve<S, B>(
        self,
        make_service: impl Fn(&Connection) -> S,
        refuse: Option<fn(String) -> Response<B>>,
        stop: impl Future<Output = ()>,
    ) -> Connections
    where
        S: Service<Request<RequestBody>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body + Send + Unpin + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let closing = CancellationToken::new();
        let limits = self.limits.usable();
        let permits = Permits::new(limits.connections, closing.clone());
        let settings = Arc::new(Settings {
            hosts: foreign_pages::hosts(self.addr, self.tls.is_some(), self.allowed_hosts),
            tls: self.tls,
            not_tls: self.not_tls,
            limits,
            refuse,
        });
        let mut tasks = JoinSet::new();
        let accepting = async {
            loop {
                while let Some(ended) = tasks.try_join_next() {
                    log_panic(ended);
                }
                let (stream, peer) = accept(&self.listener, &permits).await;
                let permit = permits.take().await;
                permit.connection().set_peer(peer);
                let service = make_service(permit.connection());
                let settings = Arc::clone(&settings);
                tasks.spawn(async move {
                    serve_connection(stream, service, permit.connection(), &settings).await;
                });
            }
        };
        tokio::select! {
            () = accepting => {}
            () = stop => {}
        }
        closing.cancel();
        Connections(tasks)
    }
}

impl TryFrom<TcpListener> for Listener {
    type Error = io::Error;

    fn try_from(listener: TcpListener) -> io::Result<Self> {
        Ok(Self {
            addr: listener.local_addr()?,
            listener,
            limits: Limits::default(),
            tls: None,
            not_tls: NOT_TLS,
            allowed_hosts: Vec::new(),
        })
    }
}

impl Connections {
    /// Waits until all connections have ended.
    pub async fn finish(&mut self) {
        while let Some(ended) = self.0.join_next().await {
            log_panic(ended);
        }
    }

    /// Breaks all connections off, and returns when they are closed.
    pub async fn abort(mut self) {
        self.0.shutdown().await;
    }

    /// Waits until all connections have ended, and breaks off those that are left after `limit`.
    pub async fn finish_within(mut self, limit: Duration) {
        if tokio::time::timeout(limit, self.finish()).await.is_err() {
            tracing::warn!(left = self.0.len(), "some requests took too long to finish");
        }
    }
}

async fn accept(listener: &TcpListener, permits: &Permits) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client closed the connection before it was accepted.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
                ) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                // Most likely the process has too many files open.
                permits.close_oldest();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!("serving a connection panicked; this is a defect");
    }
}
