//! The API on a socket, for kubectl and everybody else.

use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use axum::{Extension, Router};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::http::Stop;

/// How long connections get to finish their last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A listening server; dropping it stops it.
#[derive(Debug)]
pub struct ServerHandle {
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl ServerHandle {
    pub(crate) async fn start(router: Router, address: SocketAddr) -> Result<Self, Error> {
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        // A watch sends small frames; none should wait for the other side's acknowledgement.
        let listener = listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection sends in large pieces only");
            }
        });
        let stop = CancellationToken::new();
        let router = router.layer(Extension(Stop(stop.clone())));
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let served = axum::serve(listener, router)
                .with_graceful_shutdown(stopped.cancelled_owned())
                .await;
            if let Err(error) = served {
                tracing::error!(%error, "the local cluster's server failed");
            }
        });
        Ok(Self {
            address,
            stop,
            task,
        })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Its address as clients write it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A kubeconfig for this server, with the context `local-cluster`.
    pub fn kubeconfig(&self) -> String {
        let url = self.url();
        format!(
            "apiVersion: v1\n\
             kind: Config\n\
             clusters:\n\
             - name: local-cluster\n  cluster:\n    server: {url}\n\
             users:\n\
             - name: local-cluster\n  user: {{}}\n\
             contexts:\n\
             - name: local-cluster\n  context:\n    cluster: local-cluster\n    namespace: default\n    user: local-cluster\n\
             current-context: local-cluster\n"
        )
    }

    /// Stops listening, ends watches, and waits for the last answers.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        if tokio::time::timeout(LAST_ANSWERS, &mut self.task)
            .await
            .is_err()
        {
            self.task.abort();
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
