//! The API on a socket, for kubectl and other clients.

mod certificate;
mod kubeconfig;
mod options;
mod service;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::service::service_fn;
use lbcf_serving::body::BodyBudget;
use lbcf_serving::listener::{Connection, Listener};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use self::options::{ServeOptions, Tls, Token};

use self::service::Api;
use crate::error::Error;
use crate::http::forbidden;

/// The memory of a value of JSON, in bytes: decoded, and in the object that is made of it.
const VALUE: usize = 384;

/// The time that the shutdown waits for connections; each of them has less.
const SHUTDOWN: Duration = Duration::from_secs(3);
/// A listening server; dropping it stops it.
#[derive(Debug)]
pub struct ServerHandle {
    address: SocketAddr,
    /// The authority that clients have to trust, in PEM.
    authority: Option<String>,
    token: Option<Token>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl ServerHandle {
    pub(crate) async fn start(router: Router, options: ServeOptions) -> Result<Self, Error> {
        let listen = options.listen;
        let identity = options.tls.as_ref();
        let identity = identity
            .map(|tls| certificate::identity(tls, listen))
            .transpose()?;
        let failed = |source| Error::Listen {
            address: listen,
            source,
        };
        let listener = Listener::bind(listen).await.map_err(failed)?;
        let address = listener.addr();
        let listener = listener.allow_hosts(options.allow_hosts);
        let mut listener = listener.limits(options.limits);
        if let Some(identity) = &identity {
            listener = listener.tls(Arc::clone(&identity.tls));
        }
        let api = Arc::new(Api {
            router,
            token: options.token.clone(),
            bodies: BodyBudget::new(options.body_bytes, VALUE),
        });
        let stop = CancellationToken::new();
        let task = tokio::spawn(serve(listener, api, stop.clone()));
        Ok(Self {
            address,
            authority: identity.map(|identity| identity.authority),
            token: options.token,
            stop,
            task,
        })
    }

    /// The address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Its address as clients on this machine write it.
    pub fn url(&self) -> String {
        let scheme = if self.authority.is_some() {
            "https"
        } else {
            "http"
        };
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        format!("{scheme}://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// The authority that clients have to trust, in PEM, if it is served over TLS.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// A kubeconfig for this server, with the context `local-cluster`. Where there is a token, it is
    /// in it: [`Self::write_kubeconfig`] makes the file readable for its owner only.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::text(&self.url(), self.authority(), self.token.as_ref())
    }

    /// Writes [the kubeconfig](Self::kubeconfig) to a file of its own that only its owner may read.
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), Error> {
        kubeconfig::write(path, &self.kubeconfig()).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Closes the port, ends watches, and waits for requests to finish, for 3 s at most.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        if let Err(error) = (&mut self.task).await
            && error.is_panic()
        {
            tracing::error!("the local cluster's server panicked; this is a defect");
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn serve(listener: Listener, api: Arc<Api>, stop: CancellationToken) {
    let service = |connection: &Connection| {
        let (api, closing) = (Arc::clone(&api), connection.closing().clone());
        service_fn(move |request| {
            let (api, closing) = (Arc::clone(&api), closing.clone());
            async move { api.respond(request, closing).await }
        })
    };
    let connections = listener
        .serve(service, Some(forbidden), stop.cancelled())
        .await;
    connections.finish_within(SHUTDOWN).await;
}
