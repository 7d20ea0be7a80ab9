//! A cluster that can be restored from a backup while its clients stay connected.

use crate::cluster::Cluster;
use http::{Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster, LocalClusterOptions};
use std::convert::Infallible;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// The directories of a cluster and its backup, and the way from clients to the running cluster.
/// The directories are deleted on drop.
#[derive(Debug)]
pub(crate) struct Storage {
    directory: PathBuf,
    current: Current,
}

/// The service of the running cluster; none while it is down.
type Current = Arc<Mutex<Option<InProcess>>>;

impl Storage {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lbcf-e2e-{}-{number}", std::process::id());
        let storage = Self {
            directory: std::env::temp_dir().join(name),
            current: Current::default(),
        };
        let _ = std::fs::remove_dir_all(&storage.directory);
        storage
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn backup(&self) -> PathBuf {
        self.directory.join("backup")
    }

    /// Starts the cluster and connects its clients.
    pub(crate) async fn start(&self, options: LocalClusterOptions) -> LocalCluster {
        let options = LocalClusterOptions {
            data_dir: Some(self.data()),
            ..options
        };
        let cluster = LocalCluster::start(options).await.expect("it starts");
        self.set(Some(cluster.service()));
        cluster
    }

    pub(crate) async fn stop(&self, cluster: LocalCluster) {
        self.set(None);
        cluster.shutdown().await;
    }

    /// Copies the data of the cluster, which is stopped.
    pub(crate) fn back_up(&self) {
        copy(&self.data(), &self.backup());
    }

    /// Replaces the data of the cluster, which is stopped.
    pub(crate) fn restore(&self) {
        copy(&self.backup(), &self.data());
    }

    pub(crate) fn client_as(&self, user_agent: &str) -> Client {
        Client::new(self.service_as(user_agent), "default")
    }

    pub(crate) fn service_as(&self, user_agent: &str) -> ClusterService {
        ClusterService {
            current: Arc::clone(&self.current),
            user_agent: user_agent.to_owned(),
        }
    }

    fn set(&self, service: Option<InProcess>) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = service;
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// The way of a client to a cluster, which may be restarted meanwhile.
#[derive(Debug, Clone)]
pub struct ClusterService {
    current: Current,
    user_agent: String,
}

impl ClusterService {
    /// The way to a cluster that is not restarted.
    pub(crate) fn of(cluster: &Cluster, user_agent: &str) -> Self {
        Self {
            current: Arc::new(Mutex::new(Some(cluster.service()))),
            user_agent: user_agent.to_owned(),
        }
    }
}

type ClusterResponse = <InProcess as Service<Request<Body>>>::Response;

impl Service<Request<Body>> for ClusterService {
    type Response = ClusterResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<ClusterResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        match current.clone() {
            Some(service) => Box::pin(service.named(&self.user_agent).call(request)),
            None => Box::pin(async {
                let mut response = Response::new(axum::body::Body::from("down"));
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                Ok(response)
            }),
        }
    }
}
