//! Lookups and calls of drivers on behalf of one request.

use super::cluster_reader::{ClusterReader, LookupError};
use super::denial::Denial;
use crate::api::{LoadBalancer, LoadBalancerDriver, ObjectKey, names};
use crate::process::text::{in_full, of_driver};
use lbcf_driver_sdk::webhook::{VerdictResponse, Webhook};
use lbcf_serving::duration;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The response to a valid request while the controller is in dry-run mode. The original's text, which
/// clients search for.
const DRY_RUN: &str =
    "validate succeeded, but this operation is rejected because lbcf-controller is in dry-run mode";

pub(super) struct ValidationContext<'a, S> {
    pub(super) cluster: &'a S,
    pub(super) deadline: Deadline,
    pub(super) request_is_dry_run: bool,
}

impl<S: ClusterReader> ValidationContext<'_, S> {
    /// The driver that an object in `namespace` refers to by `name`. An object that starts to use it
    /// needs one that is neither draining nor being deleted.
    pub(super) async fn driver(
        &self,
        field: &str,
        namespace: &str,
        name: &str,
        is_new_user: bool,
    ) -> Result<Arc<LoadBalancerDriver>, Denial> {
        let key = names::resolve(namespace, name);
        let driver = self
            .look_up("LoadBalancerDriver", &key, self.cluster.driver(&key))
            .await?;
        let driver = driver.ok_or_else(|| {
            Denial::Forbidden(format!(
                "{field}: {name:?}: LoadBalancerDriver {key} not found; drivers are in the same namespace, or in {} if the name starts with {:?}",
                names::SYSTEM_NAMESPACE,
                names::SYSTEM_PREFIX
            ))
        })?;
        if !is_new_user {
            return Ok(driver);
        }
        let unusable = |why: String| {
            Denial::Forbidden(format!(
                "{field}: {name:?}: LoadBalancerDriver {key} {why} and accepts no new objects"
            ))
        };
        if driver.metadata.deletion_timestamp.is_some() {
            return Err(unusable("is being deleted".into()));
        }
        if names::is_draining(driver.metadata.labels.as_ref()) {
            return Err(unusable(format!(
                "is draining (label {}: \"true\")",
                names::LABEL_DRIVER_DRAINING
            )));
        }
        Ok(driver)
    }

    pub(super) async fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancer>>, Denial> {
        self.look_up("LoadBalancer", key, self.cluster.load_balancer(key))
            .await
    }

    pub(super) async fn is_namespace_deleting(&self, namespace: &str) -> Result<bool, Denial> {
        let lookup = self.cluster.is_namespace_deleting(namespace);
        let what = format!("Namespace {namespace} is being deleted");
        self.determine(&what, lookup).await
    }

    async fn look_up<T>(
        &self,
        kind: &str,
        key: &ObjectKey,
        lookup: impl Future<Output = Result<T, LookupError>>,
    ) -> Result<T, Denial> {
        self.determine(&format!("{kind} {key} exists"), lookup)
            .await
    }

    async fn determine<T>(
        &self,
        what: &str,
        lookup: impl Future<Output = Result<T, LookupError>>,
    ) -> Result<T, Denial> {
        let why = match timeout_at(self.deadline.at, lookup).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(error)) => in_full(&error),
            Err(_) => self.timed_out(),
        };
        Err(Denial::Undetermined(format!(
            "cannot determine whether {what}, try again: {why}"
        )))
    }

    /// In a dry run only drivers that accept it are called, with `dryRun: true`.
    pub(super) fn is_dry_run(&self) -> bool {
        self.request_is_dry_run || self.cluster.is_dry_run()
    }

    /// Calls a driver's validate webhook, unless this is a dry run that the driver does not accept.
    /// The messages of denials begin with `failed` if the call failed, and with `rejected` if the
    /// driver responded with `succ: false`.
    pub(super) async fn validate<W>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W,
        failed: &str,
        rejected: &str,
    ) -> Result<(), Denial>
    where
        W: Webhook<Response: VerdictResponse>,
    {
        if self.is_dry_run() && !driver.spec.accept_dry_run_call {
            return Ok(());
        }
        let call = self.cluster.call::<W>(driver, request);
        let why = match timeout_at(self.deadline.at, call).await {
            Ok(Ok(response)) if response.succ() => return Ok(()),
            Ok(Ok(response)) => {
                let message = of_driver(response.message());
                return Err(Denial::Forbidden(format!("{rejected}: {message}")));
            }
            Ok(Err(error)) => of_driver(&in_full(&error)),
            Err(_) => {
                let (key, webhook) = (ObjectKey::of(driver), W::INFO.name);
                format!("driver {key}: webhook {webhook}: {}", self.timed_out())
            }
        };
        Err(Denial::Undetermined(format!("{failed}: {why}")))
    }

    fn timed_out(&self) -> String {
        format!(
            "no response within {}, and the API server waits no longer",
            duration::display(self.deadline.timeout)
        )
    }

    /// Allows a valid request, unless the controller is in dry-run mode.
    pub(super) fn allow(&self) -> Result<(), Denial> {
        if self.cluster.is_dry_run() {
            return Err(Denial::Forbidden(DRY_RUN.to_owned()));
        }
        Ok(())
    }
}

/// The API server's timeout where the request names none.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);
/// The longest timeout that a webhook configuration allows.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Reserved for assembling and sending the response.
const MARGIN: Duration = Duration::from_secs(1);

/// The time for a request, from its query such as `timeout=10s`.
pub(super) fn request_timeout(query: Option<&str>) -> Duration {
    let timeout = query
        .unwrap_or_default()
        .split('&')
        .find_map(|pair| pair.strip_prefix("timeout="))
        .and_then(|text| duration::parse(text).ok())
        .filter(|timeout| !timeout.is_zero())
        .unwrap_or(DEFAULT_WAIT)
        .min(MAX_WAIT);
    // At most a fifth of the timeout is reserved.
    timeout - MARGIN.min(timeout / 5)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    /// The time from the start to the deadline.
    pub(super) timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        Self {
            at: Instant::now() + timeout,
            timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u45_the_api_servers_timeout_is_kept_with_a_margin() {
        for (query, millis) in [
            (Some("timeout=10s"), 9_000),
            (Some("x=y&timeout=30s"), 29_000),
            (Some("timeout=1m"), 29_000),
            (Some("timeout=1s"), 800),
            (Some("timeout=0s"), 9_000),
            (Some("timeout=soon"), 9_000),
            (Some(""), 9_000),
            (None, 9_000),
        ] {
            assert_eq!(request_timeout(query).as_millis(), millis, "{query:?}");
        }
    }
}
