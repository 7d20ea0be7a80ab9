//! One running listener: its socket, its groups and its counters.

use super::certificate::Certificate;
use super::counts::Counters;
use super::routes::Routes;
use super::workers::Workers;
use super::{http, tcp, udp};
use crate::cloud::ListenerProtocol;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, UdpSocket};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 4096;

/// What the connections of all listeners may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrafficLimits {
    /// The number of connections of a listener.
    pub(super) connections: usize,
    /// How long a connection may be without a byte or a request.
    pub(super) idle: Duration,
}

/// What the tasks of a listener share.
#[derive(Debug)]
pub(super) struct ListenerContext {
    pub(super) counters: Counters,
    pub(super) permits: Arc<Semaphore>,
    pub(super) limits: TrafficLimits,
    /// Where connections of TCP are served.
    pub(super) workers: Arc<Workers>,
    /// Cancelled when the listener is closed.
    pub(super) closed: CancellationToken,
}

/// A connection, as long as it is counted as open.
#[derive(Debug)]
pub(super) struct OpenConnection(Arc<ListenerContext>);

/// A listener that listens. Dropping it closes the port and breaks off what is open.
#[derive(Debug)]
pub(super) struct RunningListener {
    pub(super) addr: SocketAddr,
    pub(super) routes: Arc<Routes>,
    pub(super) context: Arc<ListenerContext>,
    /// Of HTTPS, in PEM.
    pub(super) certificate: Option<String>,
    _close: DropGuard,
}

/// A bound socket.
enum Socket {
    Stream(TcpListener),
    Datagram(UdpSocket),
}

impl OpenConnection {
    pub(super) fn new(context: &Arc<ListenerContext>) -> Self {
        context.counters.opened();
        context.counters.connection();
        Self(Arc::clone(context))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        _ = self.0.counters.closed();
    }
}

impl RunningListener {
    /// Listens on the first of these addresses that is free.
    ///
    /// # Errors
    /// The operating system's, about the last address.
    pub(super) fn open(
        protocol: ListenerProtocol,
        candidates: &[SocketAddr],
        routes: Routes,
        limits: TrafficLimits,
        total: &Arc<Counters>,
        workers: &Arc<Workers>,
        runtime: &Handle,
    ) -> io::Result<Self> {
        let _runtime = runtime.enter();
        let (socket, addr) = bind(protocol, candidates)?;
        let certificate = match protocol {
            ListenerProtocol::Https => Some(Certificate::self_signed(addr.ip())?),
            _ => None,
        };
        let closed = CancellationToken::new();
        let context = Arc::new(ListenerContext {
            counters: Counters::part_of(total),
            permits: Arc::new(Semaphore::new(limits.connections)),
            limits,
            workers: Arc::clone(workers),
            closed: closed.clone(),
        });
        let routes = Arc::new(routes);
        let (tls, pem) = certificate.map(|it| (it.tls, it.pem)).unzip();
        let shared = Arc::clone(&context);
        match socket {
            Socket::Datagram(socket) => {
                drop(runtime.spawn(udp::serve(socket, routes.direct(), shared)));
            }
            Socket::Stream(listener) if protocol.has_rules() => {
                let serving = http::serve(listener, tls, Arc::clone(&routes), shared);
                runtime.spawn(async move {
                    if let Err(error) = serving.await {
                        tracing::error!(%addr, %error, "a listener ended");
                    }
                });
            }
            Socket::Stream(listener) => {
                drop(runtime.spawn(tcp::serve(listener, routes.direct(), shared)));
            }
        }
        Ok(Self {
            addr,
            routes,
            context,
            certificate: pem,
            _close: closed.drop_guard(),
        })
    }
}

impl Drop for RunningListener {
    fn drop(&mut self) {
        self.routes.end();
    }
}

fn bind(protocol: ListenerProtocol, candidates: &[SocketAddr]) -> io::Result<(Socket, SocketAddr)> {
    let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
    for addr in candidates {
        result = bind_one(protocol, *addr);
        let in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        if !result.as_ref().is_err_and(in_use) {
            break;
        }
    }
    result
}

fn bind_one(protocol: ListenerProtocol, addr: SocketAddr) -> io::Result<(Socket, SocketAddr)> {
    if protocol == ListenerProtocol::Udp {
        let socket = std::net::UdpSocket::bind(addr)?;
        socket.set_nonblocking(true)?;
        let socket = UdpSocket::from_std(socket)?;
        let addr = socket.local_addr()?;
        return Ok((Socket::Datagram(socket), addr));
    }
    let socket = TcpSocket::new_v4()?;
    // Else the port of a listener that was deleted could not be used again for a minute.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    let listener = socket.listen(BACKLOG)?;
    let addr = listener.local_addr()?;
    Ok((Socket::Stream(listener), addr))
}
