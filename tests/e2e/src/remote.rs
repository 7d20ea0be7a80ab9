//! A cluster outside this process, which has another owner: the tests create what they need in
//! namespaces of their own and as few objects elsewhere as they can, and remove all of it.
//!
//! One world uses the cluster at a time, because the controllers of each watch all namespaces. What is
//! the same for all worlds (CRDs, permissions) stays until no other world waits for the cluster.

mod adapt;
mod clean_up;
mod conflicts;
mod forwarder;
mod installation;
mod inventory;
mod kubelet;
mod marker;
mod nodes;
mod owned;
mod permissions;
mod session;
mod target;
mod traffic;
mod worker;

pub(crate) use adapt::adapt;
pub(crate) use installation::bind_role;
pub use inventory::inventory;
pub(crate) use owned::{PREFIX, STANDBY};
pub(crate) use permissions::Permissions;
pub use session::Session;
pub(crate) use session::create_namespace;
pub(crate) use traffic::Traffic;

use crate::cluster::KUBECONFIG;
use installation::Installation;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use tokio::sync::Mutex;
use worker::Worker;

/// Names the host under which the cluster's API server reaches this process.
const HOST: &str = "LBCF_E2E_HOST";

/// A cluster that one world after another uses. Clones are the same cluster.
#[derive(Debug, Clone)]
pub struct RemoteCluster(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: Config,
    host: String,
    worker: Worker,
    /// Locked by the world that uses the cluster.
    installed: Arc<Mutex<Option<Installation>>>,
    /// How many worlds wait for the lock.
    waiting: AtomicUsize,
}

impl RemoteCluster {
    /// The cluster of [`KUBECONFIG`], if the variable is set.
    pub(crate) fn from_environment() -> Option<&'static Self> {
        static CLUSTER: OnceLock<Option<RemoteCluster>> = OnceLock::new();
        let cluster = CLUSTER.get_or_init(|| {
            let path = std::env::var_os(KUBECONFIG)?;
            Some(Self::connect(Path::new(&path)))
        });
        cluster.as_ref()
    }

    /// The cluster of the current context of a kubeconfig, which needs the permissions of an administrator.
    ///
    /// # Panics
    /// If the kubeconfig cannot be used.
    #[must_use]
    pub fn connect(kubeconfig: &Path) -> Self {
        let path = kubeconfig.display();
        let read = Kubeconfig::read_from(kubeconfig);
        let read = read.unwrap_or_else(|error| panic!("the kubeconfig {path}: {error}"));
        let (worker, (sender, receiver)) = (Worker::start(), mpsc::channel());
        worker.spawn(move || async move {
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(read, &options).await;
            sender.send(config).expect("it is awaited");
        });
        let config = receiver.recv().expect("no panic");
        let config = config.unwrap_or_else(|error| panic!("the kubeconfig {path}: {error}"));
        Self(Arc::new(Inner {
            config,
            host: std::env::var(HOST).unwrap_or_else(|_| "127.0.0.1".to_owned()),
            worker,
            installed: Arc::default(),
            waiting: AtomicUsize::new(0),
        }))
    }

    /// Waits until no other world uses the cluster, and prepares it for the next one.
    pub(crate) async fn begin(&self) -> Session {
        let waiting = Waiting::new(&self.0.waiting);
        let installed = Arc::clone(&self.0.installed).lock_owned().await;
        drop(waiting);
        Session::begin(self.clone(), installed).await
    }

    fn is_awaited(&self) -> bool {
        self.0.waiting.load(Ordering::SeqCst) > 0
    }

    /// A client of the administrator. It belongs to the current runtime.
    fn client(&self) -> Client {
        Client::try_from(self.0.config.clone()).expect("the kubeconfig is usable")
    }
}

/// Counts a world as waiting while it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
