//! Admission's reads from the cluster, and its calls of drivers.
//!
//! Lookups use the index. It trails the API server, so whatever would lead to a denial is read live
//! from the API server: a load balancer and its group can be applied in one file.

use crate::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind, ObjectExt,
    ObjectKey, syntax,
};
use crate::cluster::client::is_transient;
use crate::drivers::DriverError;
use crate::index::{Lookup, RequestKey};
use crate::runtime::Context;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::Api;
use lbcf_driver_sdk::webhook::Webhook;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Why a lookup failed. It never means that the object does not exist.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("the API server did not respond within {}s", .0.as_secs())]
    Timeout(Duration),
    /// The API server refused the request, or its response cannot be decoded.
    #[error(transparent)]
    Request(kube::Error),
}

pub(crate) trait ClusterReader: Send + Sync + 'static {
    fn driver(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Arc<LoadBalancerDriver>>, LookupError>> + Send;

    fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Arc<LoadBalancer>>, LookupError>> + Send;

    /// The objects that use a driver, each as `KIND NAMESPACE/NAME`. A driver in kube-system has
    /// users in every namespace.
    fn users_of_driver(&self, key: &ObjectKey) -> impl Future<Output = Vec<String>> + Send;

    /// Also true for a namespace that is gone.
    fn is_namespace_deleting(
        &self,
        namespace: &str,
    ) -> impl Future<Output = Result<bool, LookupError>> + Send;

    fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W,
    ) -> impl Future<Output = Result<W::Response, DriverError>> + Send;

    fn is_dry_run(&self) -> bool;
}

/// The client alone would retry for minutes.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Up to this number of users are confirmed at the API server before a deletion is denied.
const CONFIRMED_USERS: usize = 8;

/// The pauses between attempts of a lookup that failed.
const LOOKUP_PAUSES: [Duration; 3] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
];

impl ClusterReader for Context {
    async fn driver(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancerDriver>>, LookupError> {
        let known = self.index().get::<LoadBalancerDriver>(key);
        let is_usable = |driver: &LoadBalancerDriver| {
            driver.metadata.deletion_timestamp.is_none()
                && !crate::api::names::is_draining(driver.metadata.labels.as_ref())
        };
        indexed_or_live(&self.client, key, known, is_usable).await
    }

    async fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancer>>, LookupError> {
        let known = self.index().get::<LoadBalancer>(key);
        let is_usable = |lb: &LoadBalancer| lb.metadata.deletion_timestamp.is_none();
        indexed_or_live(&self.client, key, known, is_usable).await
    }

    async fn users_of_driver(&self, key: &ObjectKey) -> Vec<String> {
        let users = self.index().users_of_driver(key);
        if users.len() > CONFIRMED_USERS {
            return users.iter().map(RequestKey::to_string).collect();
        }
        let confirmed = users.iter().map(|user| async {
            let is_deleted = is_deleted(&self.client, user).await;
            (!is_deleted).then(|| user.to_string())
        });
        let confirmed = futures::future::join_all(confirmed).await;
        confirmed.into_iter().flatten().collect()
    }

    /// Namespaces are not watched: this is needed only where the deletion of a driver is about to be
    /// denied.
    async fn is_namespace_deleting(&self, namespace: &str) -> Result<bool, LookupError> {
        let api: Api<Namespace> = Api::all(self.client.clone());
        let found = read_by_name(&api, namespace).await?;
        Ok(found.is_none_or(|namespace| namespace.is_deleting()))
    }

    async fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W,
    ) -> Result<W::Response, DriverError> {
        let _permit = self.call_permit(driver).await;
        self.drivers.call_as_any_replica::<W>(driver, request).await
    }

    fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }
}

/// True for a user that is deleted already, which the index does not reflect yet.
async fn is_deleted(client: &Client, user: &RequestKey) -> bool {
    async fn absent<K: NamespacedKind>(client: &Client, key: &ObjectKey) -> bool {
        matches!(read_live::<K>(client, key).await, Ok(None))
    }
    match user {
        RequestKey::LoadBalancer(key) => absent::<LoadBalancer>(client, key).await,
        RequestKey::Group(key) => absent::<BackendGroup>(client, key).await,
        RequestKey::Bind(key) => absent::<Bind>(client, key).await,
        RequestKey::Record(key) => absent::<BackendRecord>(client, key).await,
        _ => false,
    }
}

async fn indexed_or_live<K: NamespacedKind>(
    client: &Client,
    key: &ObjectKey,
    known: Lookup<Arc<K>>,
    is_usable: impl Fn(&K) -> bool,
) -> Result<Option<Arc<K>>, LookupError> {
    if let Lookup::Found(object) = known
        && is_usable(&object)
    {
        return Ok(Some(object));
    }
    Ok(read_live(client, key).await?.map(Arc::new))
}

async fn read_live<K: NamespacedKind>(
    client: &Client,
    key: &ObjectKey,
) -> Result<Option<K>, LookupError> {
    if !syntax::is_object_name(&key.namespace) {
        return Ok(None);
    }
    read_by_name(&Api::namespaced(client.clone(), &key.namespace), &key.name).await
}

async fn read_by_name<K>(api: &Api<K>, name: &str) -> Result<Option<K>, LookupError>
where
    K: Clone + DeserializeOwned + Debug,
{
    // Users choose names, and they become part of the request's path.
    if !syntax::is_object_name(name) {
        return Ok(None);
    }
    let found = async {
        let mut pauses = LOOKUP_PAUSES.into_iter();
        loop {
            match (api.get_opt(name).await, pauses.next()) {
                // An object is not refused because one of several API servers failed once.
                (Err(error), Some(pause)) if is_transient(&error) => {
                    tokio::time::sleep(pause).await;
                }
                (response, _) => return response,
            }
        }
    };
    match tokio::time::timeout(LOOKUP_TIMEOUT, found).await {
        Ok(response) => response.map_err(LookupError::Request),
        Err(_) => Err(LookupError::Timeout(LOOKUP_TIMEOUT)),
    }
}

#[cfg(test)]
mod tests;
