//! One running listener: its socket, its certificate, its groups and its counters.

use super::context::ListenerContext;
use super::group::Routes;
use super::{http, tcp, udp};
use crate::resources::ListenerProtocol;
use lbcf_serving::tls::{ServerTls, certified_key};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket, UdpSocket};
use tokio::runtime::Handle;
use tokio_util::sync::DropGuard;

/// The number of connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

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

impl RunningListener {
    /// Listens on the first of these addresses that is free.
    ///
    /// # Errors
    /// The operating system's, about the last address.
    pub(super) fn open(
        protocol: ListenerProtocol,
        candidates: &[SocketAddr],
        routes: Routes,
        context: Arc<ListenerContext>,
        runtime: &Handle,
    ) -> io::Result<Self> {
        let _runtime = runtime.enter();
        let (socket, addr) = bind(protocol, candidates)?;
        let certificate = match protocol {
            ListenerProtocol::Https => Some(self_signed(addr.ip())?),
            _ => None,
        };
        let close = context.closed.clone().drop_guard();
        let routes = Arc::new(routes);
        let (tls, pem) = certificate.unzip();
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
            _close: close,
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

/// A certificate for `localhost` and the address, and its PEM, which the inspection shows so that clients can
/// trust it.
fn self_signed(addr: IpAddr) -> io::Result<(Arc<ServerTls>, String)> {
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let names = vec!["localhost".to_owned()];
    let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
    params.subject_alt_names.push(SanType::IpAddress(addr));
    params.distinguished_name = DistinguishedName::new();
    let name = "mock load balancer";
    params.distinguished_name.push(DnType::CommonName, name);
    let certificate = params.self_signed(&key).map_err(io::Error::other)?;
    let pem = certificate.pem();
    let certified = certified_key(pem.as_bytes(), key.serialize_pem().as_bytes());
    let tls = ServerTls::new(None).map_err(io::Error::other)?;
    tls.set_certificate(Arc::new(certified.map_err(io::Error::other)?));
    Ok((Arc::new(tls), pem))
}
