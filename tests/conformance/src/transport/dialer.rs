//! Opens connections: over TCP, over TLS, or to a router in this process.

use super::base_url::BaseUrl;
use super::settings::{Settings, TransportError};
use super::stream::Stream;
use super::tls;
use crate::exchange::NoResponse;
use axum::Router;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use lbcf_serving::client_stream::ClientStream;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The buffer size of connections in this process, in bytes.
const IN_PROCESS_BUFFER: usize = 64 << 10;

pub(super) enum Dialer {
    Network {
        host: String,
        port: u16,
        tls: Option<(ServerName<'static>, Arc<ClientConfig>)>,
        timeout: Duration,
    },
    InProcess(Router),
}

impl Dialer {
    pub(super) fn to(base: &BaseUrl, settings: &Settings) -> Result<Self, TransportError> {
        let tls = if base.is_https {
            let name = ServerName::try_from(base.host.clone())
                .map_err(|_| TransportError::Tls(format!("{:?} is not a host name", base.host)))?;
            Some((name, Arc::new(tls::config(settings)?)))
        } else {
            None
        };
        Ok(Self::Network {
            host: base.host.clone(),
            port: base.port,
            tls,
            timeout: settings.connect_timeout,
        })
    }

    pub(super) async fn dial(&self) -> Result<Stream, NoResponse> {
        match self {
            Self::InProcess(router) => Ok(serve(router.clone())),
            Self::Network {
                host,
                port,
                tls,
                timeout,
            } => tokio::time::timeout(*timeout, connect(host, *port, tls.as_ref()))
                .await
                .unwrap_or_else(|_| Err(format!("{host} port {port}: none within {timeout:?}")))
                .map_err(NoResponse::NotConnected),
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
    // Requests are small, and Nagle's algorithm would only delay them.
    tcp.set_nodelay(true).ok();
    let tcp = ClientStream::from(tcp);
    let Some((name, config)) = tls else {
        return Ok(Box::new(tcp));
    };
    let stream = TlsConnector::from(Arc::clone(config))
        .connect(name.clone(), tcp)
        .await
        .map_err(|error| format!("{host} port {port}: TLS: {error}"))?;
    Ok(Box::new(stream))
}

/// The client's end of a connection that the router serves.
fn serve(router: Router) -> Stream {
    let (ours, theirs) = tokio::io::duplex(IN_PROCESS_BUFFER);
    let serving = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(theirs), TowerToHyperService::new(router));
    tokio::spawn(async move {
        // The client's end gets the error, too.
        serving.await.ok();
    });
    Box::new(ours)
}
