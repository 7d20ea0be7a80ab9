//! A port: accepting connections, a limited number at a time.

use super::connection::{Shared, connection};
use super::limits::Limits;
use crate::server::tls;
use axum::Router;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};

/// How long the server rests when the system has no connection to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A port and what is served there.
pub(super) struct Port {
    listener: TcpListener,
    addr: SocketAddr,
    places: Arc<Semaphore>,
    shared: Shared,
    closing: watch::Sender<bool>,
}

/// The connections of a port that is closed.
pub(super) struct Connections {
    tasks: JoinSet<()>,
    /// Tells them that it is closed, for as long as this is.
    _closing: watch::Sender<bool>,
}

impl Port {
    pub(super) fn new(
        listener: TcpListener,
        addr: SocketAddr,
        router: Router,
        tls: Option<watch::Receiver<tls::Current>>,
        limits: Limits,
    ) -> Self {
        let (closing, closed) = watch::channel(false);
        // What the semaphore can count is more than any system has.
        let places = limits.connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            listener,
            addr,
            places: Arc::new(Semaphore::new(places)),
            shared: Shared {
                service: TowerToHyperService::new(router),
                tls,
                limits: limits.usable(),
                closed,
            },
            closing,
        }
    }

    pub(super) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves whoever comes, until `stop`; then the port is closed, and connections get no
    /// further requests. Dropping what is returned breaks them off.
    pub(super) async fn accept_until(self, stop: impl Future<Output = ()>) -> Connections {
        let mut tasks = JoinSet::new();
        tokio::select! {
            () = self.accept(&mut tasks) => {}
            () = stop => {}
        }
        self.closing.send_replace(true);
        Connections {
            tasks,
            _closing: self.closing,
        }
    }

    /// Never ends.
    async fn accept(&self, tasks: &mut JoinSet<()>) {
        let mut is_crowded = false;
        loop {
            while let Some(ended) = tasks.try_join_next() {
                told(ended);
            }
            let places = Arc::clone(&self.places);
            let was_crowded = std::mem::replace(&mut is_crowded, places.available_permits() == 0);
            if is_crowded && !was_crowded {
                tracing::warn!(addr = %self.addr, "there are too many connections: others wait");
            }
            // The semaphore is never closed.
            let Ok(place) = places.acquire_owned().await else {
                continue;
            };
            let stream = self.next().await;
            let shared = self.shared.clone();
            tasks.spawn(async move {
                connection(stream, shared).await;
                drop(place);
            });
        }
    }

    async fn next(&self) -> TcpStream {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return stream,
                // It was gone before it was accepted.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
                    ) => {}
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

impl Connections {
    /// Waits until all have ended.
    pub(super) async fn finish(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            told(ended);
        }
    }
}

fn told(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!("answering a request broke off; this is a defect");
    }
}
