//! The public handle of a cluster, and in-process access to its API.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::http::header::USER_AGENT;
use ::http::{HeaderValue, Request, Response};
use axum::Router;
use axum::body::Body;
use axum::routing::future::RouteFuture;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::error::Error;
use crate::faults::Faults;
use crate::options::LocalClusterOptions;
use crate::requests::RequestCounts;
use crate::server::{ServeOptions, ServerHandle};
use crate::store::{OpenError, Store};
use crate::writer::Cluster;
use crate::{controllers, http, seed};

/// A small Kubernetes cluster in this process. Dropping it stops its controllers and all watches, and
/// releases its data directory.
#[derive(Debug)]
pub struct LocalCluster {
    pub(crate) cluster: Arc<Cluster>,
    tasks: TaskTracker,
}

impl LocalCluster {
    /// Starts a cluster, whose controllers run on the current tokio runtime. It does not listen yet.
    ///
    /// Fails if the data directory cannot be opened or the initial objects are invalid.
    pub async fn start(options: LocalClusterOptions) -> Result<Self, Error> {
        let services = options.service_addresses.clone();
        let store = open(&options).await?;
        let cluster = Arc::new(Cluster::new(store, services));
        seed::serve_definitions(&cluster);
        seed::seed(&cluster, &options)
            .await
            .map_err(|e| Error::Setup(e.message().to_owned()))?;
        let tasks = TaskTracker::new();
        controllers::spawn(&cluster, &options, &tasks);
        tasks.close();
        Ok(Self { cluster, tasks })
    }

    /// An in-process client, which needs no socket.
    pub fn client(&self) -> kube::Client {
        self.client_as("in-process")
    }

    /// An in-process client with its own `User-Agent`, by which [`Self::requests`] counts.
    pub fn client_as(&self, user_agent: &str) -> kube::Client {
        kube::Client::new(self.service().named(user_agent), "default")
    }

    /// The tower service of in-process clients, to which tests can add layers.
    pub fn service(&self) -> InProcess {
        InProcess::new(self.router(), "in-process")
    }

    /// The API as an axum router.
    pub fn router(&self) -> Router {
        http::router(Arc::clone(&self.cluster))
    }

    /// Serves the API over plain HTTP without authentication. Port 0 lets the system choose a port.
    pub async fn serve(&self, address: SocketAddr) -> Result<ServerHandle, Error> {
        let options = ServeOptions {
            listen: address,
            ..ServeOptions::default()
        };
        self.serve_with(options).await
    }

    /// Serves the API over HTTP or, with a certificate, HTTPS; with a token, only authenticated requests
    /// are allowed.
    pub async fn serve_with(&self, options: ServeOptions) -> Result<ServerHandle, Error> {
        ServerHandle::start(self.router(), options).await
    }

    /// Injects faults, for tests of clients.
    pub fn faults(&self) -> Faults {
        self.cluster.faults.clone()
    }

    /// Sets the address (`host:port`) of a service (`name.namespace.svc`) that admission webhooks refer to.
    /// See [`LocalClusterOptions::service_addresses`].
    pub fn set_service_address(&self, service: impl Into<String>, address: impl Into<String>) {
        let (service, address) = (service.into(), address.into());
        self.cluster.admission.set_service(service, address);
    }

    /// The requests of all clients so far. The cluster's own controllers send none.
    pub fn requests(&self) -> RequestCounts {
        self.cluster.counters.snapshot()
    }

    /// Stops watches and controllers and waits for the latter. Releases the data directory.
    pub async fn shutdown(self) {
        self.cluster.stop.cancel();
        self.tasks.wait().await;
        self.cluster.store.close();
    }
}

impl Drop for LocalCluster {
    fn drop(&mut self) {
        self.cluster.stop.cancel();
        // Servers and clients may keep the store alive, but the directory must be free.
        self.cluster.store.close();
    }
}

async fn open(options: &LocalClusterOptions) -> Result<Arc<Store>, Error> {
    let history = options.event_history;
    let Some(directory) = options.data_dir.clone() else {
        return Ok(Store::new(history));
    };
    let path = directory.clone();
    let opened = tokio::task::spawn_blocking(move || Store::open(history, &path)).await;
    let (store, unreadable) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(OpenError::InUse)) => return Err(Error::DataDirInUse { directory }),
        Ok(Err(error)) => {
            let why = error.to_string();
            return Err(Error::DataDir { directory, why });
        }
        Err(error) => return Err(Error::Setup(error.to_string())),
    };
    for lost in unreadable {
        tracing::error!(
            directory = %directory.display(), line = lost.number, why = lost.why,
            "skipping a line in the log of the data directory that cannot be read"
        );
    }
    Ok(store)
}

/// The API as a tower service for [`kube::Client::new`], to which tests can add layers.
#[derive(Clone, Debug)]
pub struct InProcess {
    router: Router,
    user_agent: HeaderValue,
}

impl InProcess {
    pub(crate) fn new(router: Router, user_agent: &str) -> Self {
        Self {
            router,
            user_agent: HeaderValue::from_str(user_agent)
                .unwrap_or_else(|_| HeaderValue::from_static("in-process")),
        }
    }

    /// The service with another `User-Agent`, by which requests are counted.
    #[must_use]
    pub fn named(self, user_agent: &str) -> Self {
        Self::new(self.router, user_agent)
    }
}

impl Service<Request<kube::client::Body>> for InProcess {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // A router is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<kube::client::Body>) -> Self::Future {
        request
            .headers_mut()
            .entry(USER_AGENT)
            .or_insert_with(|| self.user_agent.clone());
        self.router.call(request.map(Body::new))
    }
}
