//! The controller's context as what admission asks.
//!
//! The index is asked first. It trails the API server by a moment, so whatever it says that would
//! lead to a no is asked of the API server too: a load balancer and its group can come in one
//! `kubectl apply` (u28).

use super::{Known, LookupError};
use crate::admission::rules::{is_draining, syntax};
use crate::api::{LoadBalancer, LoadBalancerDriver, NamespacedKind};
use crate::context::Context;
use crate::drivers::DriverError;
use crate::index::Lookup;
use crate::key::ObjectKey;
use kube::Client;
use kube::api::Api;
use lbcf_driver_sdk::webhook::Webhook;
use std::sync::Arc;
use std::time::Duration;

/// How long the API server may take to answer. The client alone would try for minutes.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

impl Known for Context {
    async fn driver(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancerDriver>>, LookupError> {
        let known = self.index().get_driver(key);
        let is_fit = |driver: &LoadBalancerDriver| {
            driver.metadata.deletion_timestamp.is_none()
                && !is_draining(driver.metadata.labels.as_ref())
        };
        known_or_fresh(&self.client, key, known, is_fit).await
    }

    async fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancer>>, LookupError> {
        let known = self.index().get_load_balancer(key);
        let is_fit = |lb: &LoadBalancer| lb.metadata.deletion_timestamp.is_none();
        known_or_fresh(&self.client, key, known, is_fit).await
    }

    fn users_of_driver(&self, key: &ObjectKey) -> Vec<String> {
        self.index().users_of_driver(key)
    }

    async fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W::Request,
    ) -> Result<W::Response, DriverError> {
        self.drivers.call::<W>(driver, request).await
    }

    fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }
}

async fn known_or_fresh<K: NamespacedKind>(
    client: &Client,
    key: &ObjectKey,
    known: Lookup<Arc<K>>,
    is_fit: impl Fn(&K) -> bool,
) -> Result<Option<Arc<K>>, LookupError> {
    if let Lookup::Found(object) = known
        && is_fit(&object)
    {
        return Ok(Some(object));
    }
    Ok(fresh(client, key).await?.map(Arc::new))
}

async fn fresh<K: NamespacedKind>(
    client: &Client,
    key: &ObjectKey,
) -> Result<Option<K>, LookupError> {
    // Users choose these names, and the request's path is made of them.
    if !syntax::is_object_name(&key.name) || !syntax::is_object_name(&key.namespace) {
        return Ok(None);
    }
    let api: Api<K> = Api::namespaced(client.clone(), &key.namespace);
    match tokio::time::timeout(LOOKUP_TIMEOUT, api.get_opt(&key.name)).await {
        Ok(answer) => answer.map_err(LookupError::Refused),
        Err(_) => Err(LookupError::Timeout(LOOKUP_TIMEOUT)),
    }
}

#[cfg(test)]
mod tests;
