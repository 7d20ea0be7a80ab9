//! Opens connections: over TCP, over TLS, or to a router in this process.

use super::base_url::BaseUrl;
use super::settings::{Settings, TransportError};
use super::stream::Stream;
use crate::exchange::NoResponse;
use axum::Router;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use lbcf_serving::client_stream::{ClientStream, localhost};
use lbcf_serving::tls::{ClientTls, ClientTlsError};
use lbcf_serving::watched_file::FileError;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The buffer size of connections in this process, in bytes.
const IN_PROCESS_BUFFER: usize = 64 << 10;

/// The longest file of certificates, in bytes; that of a system has a quarter of it.
const MAX_LENGTH: u64 = 1 << 20;

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
            Some((name, Arc::new(tls_config(settings)?)))
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
    let tcp = match host {
        "localhost" => TcpStream::connect(&localhost(port)[..]).await,
        _ => TcpStream::connect((host, port)).await,
    };
    let tcp = tcp.map_err(|error| format!("{host} port {port}: {error}"))?;
    // Requests are small, and Nagle's algorithm would only delay them.
    tcp.set_nodelay(true).ok();
    let tcp = ClientStream::from(tcp);
    let Some((name, config)) = tls else {
        return Ok(Box::new(tcp));
    };
    let connector = TlsConnector::from(Arc::clone(config));
    let stream = connector.connect(name.clone(), tcp).await;
    let stream = stream.map_err(|error| format!("{host} port {port}: TLS: {error}"))?;
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

/// TLS from PEM files: trusted roots and the client certificate.
fn tls_config(settings: &Settings) -> Result<ClientConfig, TransportError> {
    let tls = ClientTls {
        ca_files: settings.ca_files.clone(),
        trusts_system: false,
        certificate: settings.client_certificate.clone(),
    };
    let read = |path: &PathBuf| {
        let content = crate::files::read(path, MAX_LENGTH);
        let path = path.clone();
        content.map_err(|problem| TransportError::File { path, problem })
    };
    let paths = tls.paths();
    let contents: Result<Vec<_>, _> = paths.iter().map(read).collect();
    let mut config = tls.config(&contents?).map_err(|error| match error {
        ClientTlsError::File(FileError::Contents { path, problem }) => {
            TransportError::File { path, problem }
        }
        ClientTlsError::SystemRoots(problem) => TransportError::SystemRoots(problem),
        error => TransportError::Tls(error.to_string()),
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
