//! The way to the load balancer's API.
//!
//! FILL-IN: a client of that API, in place of this stand-in, which keeps load balancers in memory
//! and forgets them when the process ends. The driver asks for no more than the six functions of
//! [`Cloud`] and an error that tells "not there" from the rest; change them as your API has it.

use crate::fields::{Attributes, LbSpec};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Mutex;

/// FILL-IN: how to reach the API and as whom; secrets as files, which a Kubernetes `Secret` can be.
#[derive(Debug, clap::Args)]
pub struct CloudArgs {
    /// File with the key to the load balancer's API
    #[arg(long, env = "CLOUD_KEY_FILE", value_name = "FILE")]
    cloud_key_file: Option<PathBuf>,
}

/// What went wrong. Its text is for users, who read it in events and conditions.
#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    /// It is not there, or not any more.
    #[error("load balancer {0:?}: there is none with this ID")]
    NoLoadBalancer(String),
    /// There are too many.
    #[error("no further load balancer: the quota of {MOST} is used up")]
    Quota,
    /// There is no key to the API.
    #[error("--cloud-key-file {path}: {source}")]
    Key {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// How many load balancers there can be.
const MOST: usize = 1000;

/// The cloud. Clones are ways to the same one.
#[derive(Debug, Clone, Default)]
pub struct Cloud {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    load_balancers: BTreeMap<String, LoadBalancer>,
    made: u64,
}

/// A load balancer as the cloud has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadBalancer {
    /// What it was made from.
    pub spec: LbSpec,
    /// Its settings.
    pub attributes: Attributes,
    /// Its backends with their weights.
    pub backends: BTreeMap<SocketAddr, u8>,
    token: String,
}

impl Cloud {
    /// The cloud that the arguments name.
    ///
    /// # Errors
    /// [`CloudError::Key`], where the file with the key cannot be read.
    pub fn connect(args: &CloudArgs) -> Result<Self, CloudError> {
        if let Some(path) = &args.cloud_key_file {
            let _key = std::fs::read_to_string(path).map_err(|source| CloudError::Key {
                path: path.clone(),
                source,
            })?;
        }
        Ok(Self::default())
    }

    /// Makes a load balancer and gives its ID; the one that was made for this token, if it is
    /// there.
    ///
    /// # Errors
    /// [`CloudError::Quota`], where there are too many already.
    pub async fn create(&self, token: &str, spec: &LbSpec) -> Result<String, CloudError> {
        let mut state = self.state.lock().await;
        let mut all = state.load_balancers.iter();
        if let Some((id, _)) = all.find(|(_, load_balancer)| load_balancer.token == token) {
            return Ok(id.clone());
        }
        if state.load_balancers.len() >= MOST {
            return Err(CloudError::Quota);
        }
        state.made += 1;
        let id = format!("lb-{}", state.made);
        let load_balancer = LoadBalancer {
            spec: spec.clone(),
            attributes: Attributes::default(),
            backends: BTreeMap::new(),
            token: token.to_owned(),
        };
        state.load_balancers.insert(id.clone(), load_balancer);
        Ok(id)
    }

    /// Gives a load balancer these attributes.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn set_attributes(&self, id: &str, wanted: &Attributes) -> Result<(), CloudError> {
        self.change(id, |it| it.attributes = wanted.clone()).await
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

    /// Registers a backend; one that is registered gets the weight.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn register(&self, id: &str, at: SocketAddr, weight: u8) -> Result<(), CloudError> {
        self.change(id, |it| {
            it.backends.insert(at, weight);
        })
        .await
    }

    /// Takes a backend away, if it is there.
    ///
    /// # Errors
    /// [`CloudError::NoLoadBalancer`].
    pub async fn deregister(&self, id: &str, at: SocketAddr) -> Result<(), CloudError> {
        self.change(id, |it| {
            it.backends.remove(&at);
        })
        .await
    }

    /// All load balancers by their IDs. The tests look here; the driver has no need to.
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
