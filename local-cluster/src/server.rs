//! The API on a socket, for kubectl and everybody else.
//!
//! Peers may do anything. Each connection is a task of its own from its first byte on, with a place
//! among a limited number and a deadline for each thing that it waits for.

mod certificate;
mod connection;
mod gate;
mod impatient;
mod kubeconfig;
mod options;
mod places;
mod token;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use self::connection::{Shared, connection};
use self::places::Places;
use crate::error::Error;
use crate::http::BodyBudget;

pub use self::options::{ConnectionLimits, ServeOptions, Tls};
pub use self::token::Token;

/// How long connections get to end, each of them having less.
const LAST_ANSWERS: Duration = Duration::from_secs(3);
/// How long the server rests when the system has no connection to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = CancellationToken::new();
        let shared = Arc::new(Shared {
            router,
            tls: identity
                .as_ref()
                .map(|made| Arc::clone(&made.config).into()),
            token: options.token.clone(),
            bodies: BodyBudget::new(options.limits.bodies),
            limits: options.limits,
        });
        let task = tokio::spawn(serve(listener, shared, stop.clone()));
        Ok(Self {
            address,
            authority: identity.map(|made| made.authority),
            token: options.token,
            stop,
            task,
        })
    }

    /// Where it listens.
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
    /// in it: [`Self::write_kubeconfig`] lets nobody else read it.
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

    /// Stops listening, ends watches, and waits for the last answers.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        // It ends by itself, within bounds.
        if let Err(error) = (&mut self.task).await
            && error.is_panic()
        {
            tracing::error!("the local cluster's server broke off; this is a defect");
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Accepts connections until `stop`, then lets them finish what they are answering.
async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let places = Places::new(shared.limits.connections, stop.clone());
    let mut connections = JoinSet::new();
    let accepting = async {
        loop {
            while let Some(ended) = connections.try_join_next() {
                told(ended);
            }
            match listener.accept().await {
                Ok((stream, _)) => {
                    let place = places.take().await;
                    connections.spawn(connection(stream, Arc::clone(&shared), place));
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    // Most likely the process has no file left.
                    places.make_room();
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop.cancelled() => {}
    }
    drop(listener);
    let ended = async {
        while let Some(ended) = connections.join_next().await {
            told(ended);
        }
    };
    if tokio::time::timeout(LAST_ANSWERS, ended).await.is_err() {
        tracing::debug!(
            left = connections.len(),
            "some requests took too long to finish"
        );
    }
}

fn told(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!("a connection broke off; this is a defect");
    }
}
