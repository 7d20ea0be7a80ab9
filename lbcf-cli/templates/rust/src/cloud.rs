//! The client of the load balancer's API.
//!
//! FILL-IN: a client of that API, in place of this one, which keeps load balancers in memory, and with
//! `--cloud-file` in a file that survives the process. The driver needs only five functions of
//! [`Cloud`] and an error that distinguishes "not found" from others; adapt them to your API.

use crate::fields::{Attributes, LbSpec};
use crate::proxy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// FILL-IN: address and credentials of the API; take secrets from files, which a Kubernetes `Secret`
/// can be mounted as.
#[derive(Debug, clap::Args)]
pub struct CloudArgs {
    /// File with the key for the load balancer's API
    #[arg(long, env = "CLOUD_KEY_FILE", value_name = "FILE")]
    cloud_key_file: Option<PathBuf>,

    /// Keep the load balancers in this file
    #[arg(long, env = "CLOUD_FILE", value_name = "FILE")]
    cloud_file: Option<PathBuf>,

    /// Listen on 127.0.0.1 at the port of each load balancer, and forward connections to its backends
    #[arg(long, env = "CLOUD_FORWARD")]
    forward: bool,
}

/// An error of the API. Users read its text in events and conditions.
#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    /// The load balancer does not exist.
    #[error("load balancer {0:?} not found")]
    NoLoadBalancer(String),
    /// The quota is used up.
    #[error("quota exceeded: at most {MAX_LOAD_BALANCERS} load balancers")]
    Quota,
    /// The key cannot be read.
    #[error("--cloud-key-file {path}: {source}")]
    Key {
        /// The path of the file with the key.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The file of `--cloud-file` cannot be read or written.
    #[error("--cloud-file {path}: {source}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The port of a load balancer cannot be used, with `--forward`.
    #[error("listening on 127.0.0.1:{port}: {source}")]
    Listen {
        /// The port of the listener.
        port: u16,
        /// Such as "address already in use".
        source: io::Error,
    },
    /// The API does not respond: an outage that the observer has started.
    #[error("the load balancer's API does not respond")]
    Outage,
}

/// The quota of load balancers.
const MAX_LOAD_BALANCERS: usize = 1000;

/// A client of the cloud. Clones share the same cloud.
#[derive(Debug, Clone, Default)]
pub struct Cloud {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    stored: Stored,
    file: Option<PathBuf>,
    /// The proxies by the IDs of load balancers, if connections are forwarded.
    proxies: Option<BTreeMap<String, watch::Sender<Vec<SocketAddr>>>>,
    has_outage: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    load_balancers: BTreeMap<String, LoadBalancer>,
    created: u64,
}

/// A load balancer in the cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadBalancer {
    /// The spec it was created from.
    pub spec: LbSpec,
    /// The settings, which can change.
    pub attributes: Attributes,
    /// The weight of each backend by its address.
    pub backends: BTreeMap<SocketAddr, u8>,
    token: String,
}

impl LoadBalancer {
    /// Those that get connections; weights are not proportional here, but 0 is none.
    fn open_backends(&self) -> Vec<SocketAddr> {
        let open = self.backends.iter().filter(|(_, weight)| **weight > 0);
        open.map(|(at, _)| *at).collect()
    }
}

impl Cloud {
    /// Connects with these arguments.
    ///
    /// # Errors
    /// [`CloudError`], if a file cannot be read or a port cannot be used.
    pub async fn connect(args: &CloudArgs) -> Result<Self, CloudError> {
        if let Some(path) = &args.cloud_key_file {
            let _key = std::fs::read_to_string(path).map_err(|source| CloudError::Key {
                path: path.clone(),
                source,
            })?;
        }
        let cloud = Self::default();
        let mut state = cloud.state.lock().await;
        if let Some(path) = &args.cloud_file {
            state.stored = read(path).map_err(|source| file_error(path, source))?;
            state.file = Some(path.clone());
        }
        if args.forward {
            state.proxies = Some(BTreeMap::new());
            for (id, load_balancer) in state.stored.load_balancers.clone() {
                state.forward(&id, &load_balancer)?;
            }
        }
        drop(state);
        Ok(cloud)
    }

    /// Creates a load balancer and returns its ID, or the ID of the one that was already created
    /// with this token.
    ///
    /// # Errors
    /// [`CloudError::Quota`], if the quota is used up.
    pub async fn create(&self, token: &str, spec: &LbSpec) -> Result<String, CloudError> {
        let mut state = self.state.lock().await;
        state.check()?;
        let mut all = state.stored.load_balancers.iter();
        if let Some((id, _)) = all.find(|(_, load_balancer)| load_balancer.token == token) {
            return Ok(id.clone());
        }
        if state.stored.load_balancers.len() >= MAX_LOAD_BALANCERS {
            return Err(CloudError::Quota);
        }
        let id = format!("lb-{}", state.stored.created + 1);
        let load_balancer = LoadBalancer {
            spec: spec.clone(),
            attributes: Attributes::default(),
            backends: BTreeMap::new(),
            token: token.to_owned(),
        };
        state.forward(&id, &load_balancer)?;
        state.stored.created += 1;
        state
            .stored
            .load_balancers
            .insert(id.clone(), load_balancer);
        state.save()?;
        Ok(id)
    }

    /// The ID of the load balancer that was created with this token.
    ///
    /// # Errors
    /// [`CloudError::Outage`].
    pub async fn find(&self, token: &str) -> Result<Option<String>, CloudError> {
        let state = self.state.lock().await;
        state.check()?;
        let mut all = state.stored.load_balancers.iter();
        let found = all.find(|(_, load_balancer)| load_balancer.token == token);
        Ok(found.map(|(id, _)| id.clone()))
    }

    /// Sets the attributes of a load balancer.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn set_attributes(&self, id: &str, desired: &Attributes) -> Result<(), CloudError> {
        self.change(id, |it| it.attributes = desired.clone()).await
    }

    /// Deletes a load balancer with all its backends.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn delete(&self, id: &str) -> Result<(), CloudError> {
        let mut state = self.state.lock().await;
        state.check()?;
        if state.stored.load_balancers.remove(id).is_none() {
            return Err(no_load_balancer(id));
        }
        if let Some(proxies) = &mut state.proxies {
            proxies.remove(id);
        }
        state.save()
    }

    /// Registers a backend, or updates its weight.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn register(&self, id: &str, at: SocketAddr, weight: u8) -> Result<(), CloudError> {
        self.change(id, |it| {
            it.backends.insert(at, weight);
        })
        .await
    }

    /// Deregisters a backend, if it is registered.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn deregister(&self, id: &str, at: SocketAddr) -> Result<(), CloudError> {
        self.change(id, |it| {
            it.backends.remove(&at);
        })
        .await
    }

    /// All load balancers by ID, for tests and for the observer.
    pub async fn load_balancers(&self) -> BTreeMap<String, LoadBalancer> {
        self.state.lock().await.stored.load_balancers.clone()
    }

    /// Starts or ends an outage, in which every function above fails; for the observer.
    pub async fn set_outage(&self, on: bool) {
        self.state.lock().await.has_outage = on;
    }

    async fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut LoadBalancer),
    ) -> Result<(), CloudError> {
        let mut state = self.state.lock().await;
        state.check()?;
        let found = state.stored.load_balancers.get_mut(id);
        let found = found.ok_or_else(|| no_load_balancer(id))?;
        change(found);
        let open = found.open_backends();
        if let Some(proxy) = state.proxies.as_ref().and_then(|all| all.get(id)) {
            proxy.send_replace(open);
        }
        state.save()
    }
}

impl State {
    fn check(&self) -> Result<(), CloudError> {
        if self.has_outage {
            return Err(CloudError::Outage);
        }
        Ok(())
    }

    /// Forwards connections to this load balancer, with `--forward`.
    fn forward(&mut self, id: &str, load_balancer: &LoadBalancer) -> Result<(), CloudError> {
        if let Some(proxies) = &mut self.proxies {
            let port = load_balancer.spec.port.get();
            let proxy = proxy::start(port);
            let proxy = proxy.map_err(|source| CloudError::Listen { port, source })?;
            proxy.send_replace(load_balancer.open_backends());
            proxies.insert(id.to_owned(), proxy);
        }
        Ok(())
    }

    /// Replaces the file as a whole: a process that ends here leaves the old one or the new one.
    fn save(&self) -> Result<(), CloudError> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let new = path.with_extension("new");
        let written = serde_json::to_vec(&self.stored).map_err(io::Error::from);
        let written = written.and_then(|text| std::fs::write(&new, text));
        let renamed = written.and_then(|()| std::fs::rename(&new, path));
        renamed.map_err(|source| file_error(path, source))
    }
}

/// Reads the file; a missing one is an empty cloud.
fn read(path: &Path) -> io::Result<Stored> {
    match std::fs::read(path) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Stored::default()),
        Err(error) => Err(error),
    }
}

fn file_error(path: &Path, source: io::Error) -> CloudError {
    CloudError::File {
        path: path.to_owned(),
        source,
    }
}

fn no_load_balancer(id: &str) -> CloudError {
    CloudError::NoLoadBalancer(id.to_owned())
}
