//! What admission asks of others: the cluster about objects, drivers about what they think.

mod context;

use crate::api::{LoadBalancer, LoadBalancerDriver};
use crate::drivers::DriverError;
use crate::key::ObjectKey;
use lbcf_driver_sdk::webhook::Webhook;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Why it is not known whether an object is there. It never stands for "it is not there".
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    /// The API server did not answer in time.
    #[error("the API server did not answer within {}s", .0.as_secs())]
    Timeout(Duration),
    /// The API server refused, or what it gave cannot be understood.
    #[error(transparent)]
    Refused(kube::Error),
}

/// What the rules ask about.
pub(crate) trait Known: Send + Sync + 'static {
    /// A driver; none where there is none.
    fn driver(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Arc<LoadBalancerDriver>>, LookupError>> + Send;

    /// A load balancer; none where there is none.
    fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Arc<LoadBalancer>>, LookupError>> + Send;

    /// All that uses a driver, each as `KIND NAMESPACE/NAME`. Users of a driver of kube-system
    /// are in any namespace (d12).
    fn users_of_driver(&self, key: &ObjectKey) -> impl Future<Output = Vec<String>> + Send;

    /// Asks a driver.
    fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W::Request,
    ) -> impl Future<Output = Result<W::Response, DriverError>> + Send;

    /// Whether the controller only rehearses, and so nothing may be stored (d23).
    fn is_dry_run(&self) -> bool;
}
