//! The mock as a server in this process, which can go away and come back.

mod connection;

use crate::cloud::Cloud;
use crate::defects::Death;
use crate::driver::ClbDriver;
use crate::process::Process;
use crate::router::with_process;
use crate::{MockError, MockOptions, WebhookCalls};
use axum::Router;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// How long [`MockServer::stop`] waits for hooks that are at work.
const HOOKS_LIMIT: Duration = Duration::from_secs(5);
/// How long the server rests when the system has no connection to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running mock. [`stop`](Self::stop) it, or drop it: it then refuses connections like a driver
/// that is down. The cloud stays, and so does what was counted.
#[derive(Debug)]
pub struct MockServer {
    cloud: Cloud,
    addr: SocketAddr,
    process: Process,
    death: Death,
    /// Stops the server by being dropped.
    running: oneshot::Sender<Infallible>,
    task: JoinHandle<()>,
}

impl MockServer {
    /// Starts a driver of `cloud` on `addr`; port 0 is a free one.
    ///
    /// # Errors
    /// [`MockError::Listen`], when the address cannot be had.
    pub async fn start(
        cloud: Cloud,
        addr: SocketAddr,
        options: MockOptions,
    ) -> Result<Self, MockError> {
        let listen_error = |source| MockError::Listen { addr, source };
        let listener = TcpListener::bind(addr).await.map_err(listen_error)?;
        let addr = listener.local_addr().map_err(listen_error)?;
        let (router, process, death) = with_process(ClbDriver::new(cloud.clone(), options));
        let (running, stop) = oneshot::channel();
        tracing::info!(%addr, "the mock driver listens");
        Ok(Self {
            cloud,
            addr,
            running,
            task: tokio::spawn(serve(
                listener,
                router,
                process.clone(),
                stop,
                death.clone(),
            )),
            process,
            death,
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its URL, for a `LoadBalancerDriver`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Waits until a call has killed the driver, which only a
    /// [defect](crate::Defect::DiesOnBadJson) lets happen. It serves no more then.
    pub async fn died(&self) {
        self.death.comes().await;
    }

    /// How often each webhook was called by now, also by way of earlier servers of the same cloud.
    #[must_use]
    pub fn calls(&self) -> WebhookCalls {
        self.cloud.calls()
    }

    /// Closes the port and every connection. When it returns, connections are refused, and
    /// nothing that this server began changes the cloud any more.
    pub async fn stop(self) {
        drop(self.running);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the mock driver's server broke off");
        }
        if tokio::time::timeout(HOOKS_LIMIT, self.process.hooks().idle())
            .await
            .is_err()
        {
            tracing::warn!("some webhooks are still at work");
        }
        tracing::info!(addr = %self.addr, "the mock driver has stopped");
    }
}

/// Serves until `stop` resolves. Connections end with it, in the middle of an answer if need be:
/// a driver that dies does not say goodbye either.
async fn serve(
    listener: TcpListener,
    router: Router,
    process: Process,
    mut stop: oneshot::Receiver<Infallible>,
    death: Death,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stop => break,
            () = death.comes() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection::serve(stream, router.clone(), process.life()));
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    connections.shutdown().await;
}
