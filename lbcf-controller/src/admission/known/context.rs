//! The controller's context as what admission asks.
//!
//! The index is asked first. It trails the API server by a moment, so whatever it says that would
//! lead to a no is asked of the API server too: a load balancer and its group can come in one
//! `kubectl apply` (u28).

use super::{Known, LookupError};
use crate::admission::rules::{is_draining, syntax};
use crate::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use crate::context::Context;
use crate::drivers::DriverError;
use crate::index::{Lookup, User, UserKind};
use crate::key::ObjectKey;
use kube::Client;
use kube::api::Api;
use lbcf_driver_sdk::webhook::Webhook;
use std::sync::Arc;
use std::time::Duration;

/// How long the API server may take to answer. The client alone would try for minutes.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// With more users than this, one at least is surely there.
const CONFIRMED_USERS: usize = 8;

/// Before a look-up that failed is tried again.
const LOOKUP_PAUSES: [Duration; 3] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
];

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

    async fn users_of_driver(&self, key: &ObjectKey) -> Vec<String> {
        let users = self.index().users_of_driver(key);
        if users.len() > CONFIRMED_USERS {
            return users.iter().map(User::to_string).collect();
        }
        let confirmed = users.iter().map(|user| async {
            let is_gone = is_gone(&self.client, user).await;
            (!is_gone).then(|| user.to_string())
        });
        let confirmed = futures::future::join_all(confirmed).await;
        confirmed.into_iter().flatten().collect()
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

/// Whether the index was late: who deletes a driver's last user and then the driver is not refused.
async fn is_gone(client: &Client, user: &User) -> bool {
    async fn absent<K: NamespacedKind>(client: &Client, key: &ObjectKey) -> bool {
        matches!(fresh::<K>(client, key).await, Ok(None))
    }
    match user.kind {
        UserKind::LoadBalancer => absent::<LoadBalancer>(client, &user.key).await,
        UserKind::BackendGroup => absent::<BackendGroup>(client, &user.key).await,
        UserKind::Bind => absent::<Bind>(client, &user.key).await,
        UserKind::BackendRecord => absent::<BackendRecord>(client, &user.key).await,
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
    let found = async {
        let mut pauses = LOOKUP_PAUSES.into_iter();
        loop {
            match (api.get_opt(&key.name).await, pauses.next()) {
                (Err(error), Some(pause)) if may_pass(&error) => tokio::time::sleep(pause).await,
                (answer, _) => return answer,
            }
        }
    };
    match tokio::time::timeout(LOOKUP_TIMEOUT, found).await {
        Ok(answer) => answer.map_err(LookupError::Refused),
        Err(_) => Err(LookupError::Timeout(LOOKUP_TIMEOUT)),
    }
}

/// Whether the same question may be answered the next time: a user's object is not refused because
/// one API server of several stumbled.
fn may_pass(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code >= 500,
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
