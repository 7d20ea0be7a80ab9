//! The cluster as its users hold it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio_util::task::TaskTracker;

use crate::client::InProcess;
use crate::error::Error;
use crate::faults::Faults;
use crate::options::LocalClusterOptions;
use crate::requests::RequestCounts;
use crate::server::{ServeOptions, ServerHandle};
use crate::store::{OpenError, Store};
use crate::writer::Cluster;
use crate::{agents, http, seed};

/// A small Kubernetes cluster in this process. Dropping it ends its agents and all watches, and lets
/// go of its data directory.
#[derive(Debug)]
pub struct LocalCluster {
    pub(crate) cluster: Arc<Cluster>,
    tasks: TaskTracker,
}

impl LocalCluster {
    /// Starts a cluster. Its agents run on the current tokio runtime; nothing listens yet.
    pub async fn start(options: LocalClusterOptions) -> Result<Self, Error> {
        let services = options.service_addresses.clone();
        let store = open(&options).await?;
        let cluster = Arc::new(Cluster::new(store, services));
        seed::serve_definitions(&cluster);
        seed::seed(&cluster, &options)
            .await
            .map_err(|e| Error::Setup(e.message().to_owned()))?;
        let tasks = TaskTracker::new();
        agents::spawn(&cluster, &options, &tasks);
        tasks.close();
        Ok(Self { cluster, tasks })
    }

    /// A client in this process, without a socket.
    pub fn client(&self) -> kube::Client {
        self.client_as("in-process")
    }

    /// The same with a `User-Agent` of its own, so that [`Self::requests`] tells clients apart.
    pub fn client_as(&self, user_agent: &str) -> kube::Client {
        kube::Client::new(self.service().named(user_agent), "default")
    }

    /// The service that in-process clients are made of, to put layers around.
    pub fn service(&self) -> InProcess {
        InProcess::new(self.router(), "in-process")
    }

    /// The API as a router.
    pub fn router(&self) -> Router {
        http::router(Arc::clone(&self.cluster))
    }

    /// Serves the API over plain HTTP to everybody; port 0 lets the system choose one.
    pub async fn serve(&self, address: SocketAddr) -> Result<ServerHandle, Error> {
        let options = ServeOptions {
            listen: address,
            ..ServeOptions::default()
        };
        self.serve_with(options).await
    }

    /// Serves the API over HTTP or, with a certificate, HTTPS; to everybody or to those who show a
    /// token.
    pub async fn serve_with(&self, options: ServeOptions) -> Result<ServerHandle, Error> {
        ServerHandle::start(self.router(), options).await
    }

    /// What goes wrong on purpose, for tests of clients.
    pub fn faults(&self) -> Faults {
        self.cluster.faults.clone()
    }

    /// Says where a service is from now on, for the admission webhooks that name it: its name as
    /// `name.namespace.svc`, its address as `host:port`.
    pub fn set_service_address(&self, service: impl Into<String>, address: impl Into<String>) {
        let (service, address) = (service.into(), address.into());
        self.cluster.admission.set_service(service, address);
    }

    /// The requests answered so far, of all clients. The cluster's own agents make none.
    pub fn requests(&self) -> RequestCounts {
        self.cluster.counters.snapshot()
    }

    /// Ends watches and agents and waits for the latter. The data directory is free afterwards.
    pub async fn shutdown(self) {
        self.cluster.stop.cancel();
        self.tasks.wait().await;
        self.cluster.store.close();
    }
}

impl Drop for LocalCluster {
    fn drop(&mut self) {
        self.cluster.stop.cancel();
        // Servers and clients may hold the store for longer than it may hold the directory.
        self.cluster.store.close();
    }
}

/// The store that the options ask for.
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
            directory = %directory.display(), object = lost.key, why = lost.why,
            "an object in the data directory cannot be read and is left out"
        );
    }
    Ok(store)
}
