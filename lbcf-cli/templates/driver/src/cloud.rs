//! The client of the load balancer's API.
//!
//! FILL-IN: a client of that API, in place of this one, which keeps load balancers in memory until
//! the process ends. The driver needs only the six functions of [`Cloud`] and an error that
//! distinguishes "not found" from others; adapt them to your API.

use crate::fields::{Attributes, LbSpec};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Mutex;

/// FILL-IN: address and credentials of the API; take secrets from files, which a Kubernetes `Secret`
/// can be mounted as.
#[derive(Debug, clap::Args)]
pub struct CloudArgs {
    /// File with the key for the load balancer's API
    #[arg(long, env = "CLOUD_KEY_FILE", value_name = "FILE")]
    cloud_key_file: Option<PathBuf>,
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
        source: std::io::Error,
    },
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
    load_balancers: BTreeMap<String, LoadBalancer>,
    created: u64,
}

/// A load balancer in the cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadBalancer {
    /// The spec it was created from.
    pub spec: LbSpec,
    /// The settings, which can change.
    pub attributes: Attributes,
    /// The weight of each backend by its address.
    pub backends: BTreeMap<SocketAddr, u8>,
    token: String,
}

impl Cloud {
    /// Connects with these arguments.
    ///
    /// # Errors
    /// [`CloudError::Key`], if the file with the key cannot be read.
    pub fn connect(args: &CloudArgs) -> Result<Self, CloudError> {
        if let Some(path) = &args.cloud_key_file {
            let _key = std::fs::read_to_string(path).map_err(|source| CloudError::Key {
                path: path.clone(),
                source,
            })?;
        }
        Ok(Self::default())
    }

    /// Creates a load balancer and returns its ID, or the ID of the one that was already created
    /// with this token.
    ///
    /// # Errors
    /// [`CloudError::Quota`], if the quota is used up.
    pub async fn create(&self, token: &str, spec: &LbSpec) -> Result<String, CloudError> {
        let mut state = self.state.lock().await;
        let mut all = state.load_balancers.iter();
        if let Some((id, _)) = all.find(|(_, load_balancer)| load_balancer.token == token) {
            return Ok(id.clone());
        }
        if state.load_balancers.len() >= MAX_LOAD_BALANCERS {
            return Err(CloudError::Quota);
        }
        state.created += 1;
        let id = format!("lb-{}", state.created);
        let load_balancer = LoadBalancer {
            spec: spec.clone(),
            attributes: Attributes::default(),
            backends: BTreeMap::new(),
            token: token.to_owned(),
        };
        state.load_balancers.insert(id.clone(), load_balancer);
        Ok(id)
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
        let deleted = state.load_balancers.remove(id);
        deleted.map(drop).ok_or_else(|| no_load_balancer(id))
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

    /// All load balancers by ID, for tests.
    pub async fn load_balancers(&self) -> BTreeMap<String, LoadBalancer> {
        self.state.lock().await.load_balancers.clone()
    }

    async fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut LoadBalancer),
    ) -> Result<(), CloudError> {
        let mut state = self.state.lock().await;
        let found = state.load_balancers.get_mut(id);
        found.map(change).ok_or_else(|| no_load_balancer(id))
    }
}

fn no_load_balancer(id: &str) -> CloudError {
    CloudError::NoLoadBalancer(id.to_owned())
}
