//! New connections: over TCP, over TLS, or to a router in process.

use super::base::Base;
use super::settings::{Settings, TransportError};
use super::stream::Stream;
use super::tls;
use crate::exchange::NoAnswer;
use axum::Router;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How much is on its way in process before the sender has to wait, as in a socket's buffers.
const IN_PROCESS_BUFFER: usize = 64 << 10;

/// How connections to the driver come about.
pub(super) enum Dialer {
    /// To a host and a port.
    Network {
        host: String,
        port: u16,
        tls: Option<(ServerName<'static>, Arc<ClientConfig>)>,
        /// How long it may take.
        limit: Duration,
    },
    /// To a router, without a port.
    InProcess(Router),
}

impl Dialer {
    pub(super) fn to(base: &Base, settings: &Settings) -> Result<Self, TransportError> {
        let tls = if base.is_https {
            let name = ServerName::try_from(base.host.clone())
                .map_err(|_| TransportError::Tls(format!("{:?} is no host's name", base.host)))?;
            Some((name, Arc::new(tls::config(settings)?)))
        } else {
            None
        };
        Ok(Self::Network {
            host: base.host.clone(),
            port: base.port,
            tls,
            limit: settings.connect_timeout,
        })
    }

    /// A new connection.
    pub(super) async fn dial(&self) -> Result<Stream, NoAnswer> {
        match self {
            Self::InProcess(router) => Ok(serve(router.clone())),
            Self::Network {
                host,
                port,
                tls,
                limit,
            } => tokio::time::timeout(*limit, connect(host, *port, tls.as_ref()))
                .await
                .unwrap_or_else(|_| Err(format!("{host} port {port}: none within {limit:?}")))
                .map_err(NoAnswer::NotConnected),
        }
    }
}

async fn connect(
    host: &str,
    port: u16,
    tls: Option<&(ServerName<'static>, Arc<ClientConfig>)>,
) -> Result<Stream, String> {
    let tcp = TcpStream::connect((host, port))
        .await
        .map_err(|error| format!("{host} port {port}: {error}"))?;
    // Requests are small: waiting to fill a packet would only delay them. Without it they are
    // slower, and nothing else.
    tcp.set_nodelay(true).ok();
    let Some((name, config)) = tls else {
        return Ok(Box::new(tcp));
    };
    let stream = TlsConnector::from(Arc::clone(config))
        .connect(name.clone(), tcp)
        .await
        .map_err(|error| format!("{host} port {port}: TLS: {error}"))?;
    Ok(Box::new(stream))
}

/// The end of a connection whose other end the router serves, until one of them is gone.
fn serve(router: Router) -> Stream {
    let (ours, theirs) = tokio::io::duplex(IN_PROCESS_BUFFER);
    let serving = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(theirs), TowerToHyperService::new(router));
    tokio::spawn(async move {
        // What ends it badly, the kit sees at its own end.
        serving.await.ok();
    });
    Box::new(ours)
}
