//! Asking the cluster and the drivers on behalf of one request.

use super::deadline::Deadline;
use super::known::{Known, LookupError};
use super::refusal::Denial;
use super::rules::is_draining;
use crate::api::{LoadBalancer, LoadBalancerDriver};
use crate::error_text::in_full;
use crate::go_duration;
use crate::key::ObjectKey;
use crate::names;
use lbcf_driver_sdk::webhook::{VerdictResponse, Webhook};
use std::future::Future;
use std::sync::Arc;
use tokio::time::timeout_at;

/// What the original says to a request that would succeed while it only rehearses (d23). Clients
/// look for it.
const DRY_RUN: &str =
    "validate succeeded, but this operation is rejected because lbcf-controller is in dry-run mode";

/// What a driver said no to, or how it could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotPassed {
    /// No answer came.
    NoAnswer(String),
    /// It said no.
    Refused(String),
}

/// Asks for one request.
pub(super) struct Asking<'a, S> {
    pub(super) state: &'a S,
    pub(super) deadline: Deadline,
    /// Whether the request itself is a rehearsal.
    pub(super) is_dry_run: bool,
}

impl<S: Known> Asking<'_, S> {
    /// The driver that an object in `namespace` means by `name`; a no, where there is none.
    pub(super) async fn driver(
        &self,
        field: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<LoadBalancerDriver>, Denial> {
        let key = names::resolve(namespace, name);
        let driver = self
            .look_up("LoadBalancerDriver", &key, self.state.driver(&key))
            .await?;
        driver.ok_or_else(|| {
            Denial::Refused(format!(
                "{field}: {name:?}: there is no LoadBalancerDriver {key}; a driver is in the same namespace, or in {} if its name starts with {:?}",
                names::SYSTEM_NAMESPACE,
                names::SYSTEM_PREFIX
            ))
        })
    }

    /// A driver that somebody starts to use: neither going nor draining.
    pub(super) async fn driver_for_new(
        &self,
        field: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<LoadBalancerDriver>, Denial> {
        let driver = self.driver(field, namespace, name).await?;
        let key = ObjectKey::of(&*driver);
        let no = |why: String| {
            Denial::Refused(format!(
                "{field}: {name:?}: LoadBalancerDriver {key} {why}, nobody new can use it"
            ))
        };
        if driver.metadata.deletion_timestamp.is_some() {
            return Err(no("is being deleted".into()));
        }
        if is_draining(driver.metadata.labels.as_ref()) {
            return Err(no(format!(
                "is draining (label {}: \"true\")",
                names::LABEL_DRIVER_DRAINING
            )));
        }
        Ok(driver)
    }

    /// A load balancer; none where there is none.
    pub(super) async fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancer>>, Denial> {
        self.look_up("LoadBalancer", key, self.state.load_balancer(key))
            .await
    }

    async fn look_up<T>(
        &self,
        kind: &str,
        key: &ObjectKey,
        lookup: impl Future<Output = Result<T, LookupError>>,
    ) -> Result<T, Denial> {
        let why = match timeout_at(self.deadline.at(), lookup).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(error)) => in_full(&error),
            Err(_) => self.time_is_over(),
        };
        Err(Denial::Unknown(format!(
            "whether there is a {kind} {key} cannot be told now, try again: {why}"
        )))
    }

    /// Whether a rehearsal is under way, in which a driver is asked only if it agrees to that.
    pub(super) fn rehearses(&self) -> bool {
        self.is_dry_run || self.state.is_dry_run()
    }

    /// Asks a driver for its verdict, unless this is a rehearsal that it has no part in.
    pub(super) async fn verdict<W>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W::Request,
    ) -> Result<(), NotPassed>
    where
        W: Webhook<Response: VerdictResponse>,
    {
        if self.rehearses() && !driver.spec.accept_dry_run_call {
            return Ok(());
        }
        let call = self.state.call::<W>(driver, request);
        match timeout_at(self.deadline.at(), call).await {
            Ok(Ok(answer)) if answer.succ() => Ok(()),
            Ok(Ok(answer)) => Err(NotPassed::Refused(answer.message().to_owned())),
            Ok(Err(error)) => Err(NotPassed::NoAnswer(in_full(&error))),
            Err(_) => Err(NotPassed::NoAnswer(format!(
                "driver {}: webhook {}: {}",
                ObjectKey::of(driver),
                W::INFO.name,
                self.time_is_over()
            ))),
        }
    }

    fn time_is_over(&self) -> String {
        format!(
            "no answer within {}, and the API server does not wait longer",
            go_duration::display(self.deadline.patience())
        )
    }

    /// The last word on something that nothing speaks against: while the controller only
    /// rehearses, it may not happen (d23).
    pub(super) fn passed(&self) -> Result<(), Denial> {
        if self.state.is_dry_run() {
            return Err(Denial::Refused(DRY_RUN.to_owned()));
        }
        Ok(())
    }
}
