//! What admission reads from the cluster, and its calls of drivers.

mod context;

use crate::api::{LoadBalancer, LoadBalancerDriver, ObjectKey};
use crate::drivers::DriverError;
use lbcf_driver_sdk::webhook::Webhook;
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
    /// users in every namespace (d12).
    fn users_of_driver(&self, key: &ObjectKey) -> impl Future<Output = Vec<String>> + Send;

    /// Whether a namespace is being deleted, or is gone.
    fn is_namespace_deleting(
        &self,
        namespace: &str,
    ) -> impl Future<Output = Result<bool, LookupError>> + Send;

    fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W::Request,
    ) -> impl Future<Output = Result<W::Response, DriverError>> + Send;

    /// Whether the controller is in dry-run mode (d23).
    fn is_dry_run(&self) -> bool;
}
