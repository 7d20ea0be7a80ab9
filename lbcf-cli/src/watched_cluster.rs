//! The load balancers that a cluster declares, for the mock to compare with its cloud.
//!
//! One watch for each kind keeps what is declared in memory, so that the page never waits for the
//! cluster. A watch that fails is started again, and meanwhile its problem is shown instead.

mod declared;
mod listed;

use declared::{DeclaredBy, backends, of_bind, of_load_balancer};
use futures::StreamExt;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::watcher::{self, watcher};
use kube::{Client, Config, Resource};
use lbcf_controller::ObjectKey;
use listed::Listed;
use mock_driver::{ClusterBackend, ClusterLoadBalancer, ClusterReader, ClusterView};
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The duration of a watch, after which it is started again, in seconds.
const WATCH_SECONDS: u32 = 60;
/// The time that the cluster may be silent: longer than a watch takes that sees no change.
const SILENCE: Duration = Duration::from_secs(75);
/// The delay after which a watch that failed is started again.
const RETRY: Duration = Duration::from_secs(2);
/// The limit of connecting to the cluster.
const CONNECTING: Duration = Duration::from_secs(10);

/// The load balancers and BackendRecords of a cluster, followed until it is dropped.
#[derive(Debug)]
pub struct WatchedCluster {
    load_balancers: Followed<ClusterLoadBalancer>,
    binds: Followed<ClusterLoadBalancer>,
    backends: Followed<ClusterBackend>,
    _watches: JoinSet<()>,
}

/// The declarations of the objects of a kind, with the kind's plural name.
#[derive(Debug)]
struct Followed<T>(Arc<Mutex<Listed<T>>>, String);

impl WatchedCluster {
    /// Follows the cluster; of a LoadBalancerDriver's name, only what that one has.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn follow(client: &Client, driver: Option<String>) -> Self {
        let driver = DeclaredBy::new(driver);
        let mut watches = JoinSet::new();
        Self {
            load_balancers: Followed::start(client, &driver, of_load_balancer, &mut watches),
            binds: Followed::start(client, &driver, of_bind, &mut watches),
            backends: Followed::start(client, &driver, backends, &mut watches),
            _watches: watches,
        }
    }

    /// A client for [`follow`](Self::follow) that notices a cluster which no longer responds.
    ///
    /// # Errors
    /// [`kube::Error`], if the configuration cannot be used.
    pub fn client(mut config: Config) -> Result<Client, kube::Error> {
        config.connect_timeout = Some(CONNECTING);
        config.read_timeout = Some(SILENCE);
        Client::try_from(config)
    }
}

impl ClusterReader for WatchedCluster {
    fn read(&self) -> Result<ClusterView, String> {
        let mut load_balancers = self.load_balancers.all()?;
        load_balancers.extend(self.binds.all()?);
        Ok(ClusterView {
            load_balancers,
            backends: self.backends.all()?,
        })
    }
}

impl<T: Clone + Send + 'static> Followed<T> {
    /// Follows the kind `K`, from whose objects `declared` takes what they declare.
    fn start<K>(
        client: &Client,
        driver: &DeclaredBy,
        declared: fn(&K, &DeclaredBy) -> Vec<T>,
        watches: &mut JoinSet<()>,
    ) -> Self
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + 'static,
    {
        let resource = ApiResource::erase::<K>(&());
        // Not typed: one object that cannot be parsed would hide all others.
        let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
        let config = watcher::Config::default().timeout(WATCH_SECONDS);
        let listed = Arc::new(Mutex::new(Listed::default()));
        let (shared, driver) = (Arc::clone(&listed), driver.clone());
        watches.spawn(async move {
            let declared = |object: DynamicObject| {
                let key = ObjectKey::of(&object);
                let typed = object.try_parse::<K>().map(|it| declared(&it, &driver));
                (key, typed.map_err(|error| error.to_string()))
            };
            loop {
                let mut events = watcher(api.clone(), config.clone()).boxed();
                while let Some(event) = events.next().await {
                    let has_failed = event.is_err();
                    lock(&shared).apply(event, declared);
                    // One that goes on by itself would tell nothing until something changes, while the
                    // problem is over. A list tells that it is.
                    if has_failed {
                        break;
                    }
                }
                tokio::time::sleep(RETRY).await;
            }
        });
        Self(listed, resource.plural)
    }

    fn all(&self) -> Result<Vec<T>, String> {
        let all = lock(&self.0).all();
        all.map_err(|problem| format!("{}: {problem}", self.1))
    }
}

fn lock<T>(listed: &Mutex<Listed<T>>) -> MutexGuard<'_, Listed<T>> {
    listed.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
