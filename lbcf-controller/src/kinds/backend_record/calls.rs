//! The calls of a record's driver, and what their responses change.

use super::backend::fetch;
use super::decide::{cannot_be_stored, deregister_request};
use super::observe::period_of;
use super::reconcile::Reconciler;
use super::waiting::backend_unavailable;
use crate::api::{
    BackendRecordStatus, Condition, Conditions, LoadBalancerDriver, ObjectKey, StringMap,
    condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::runtime::operation::{Incomplete, Operand, operate, retry_id};
use crate::runtime::{Action, Error, OperationFailure};
use lbcf_driver_sdk::webhook::{
    DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    GenerateBackendAddr, GenerateBackendAddrRequest,
};
use std::time::Duration;

impl Reconciler<'_> {
    pub(super) async fn generate(
        &self,
        driver: &LoadBalancerDriver,
        mut request: GenerateBackendAddrRequest,
    ) -> Result<Action, Error> {
        let context = self.context;
        if let Err(error) = fetch(context, self.record, &mut request).await {
            if matches!(error, Error::BackendChanged(_)) {
                self.report(&backend_unavailable(self.record)).await?;
            }
            return Err(error);
        }
        request.retry_id = retry_id();
        let operand = self.operand();
        let call =
            operate::<GenerateBackendAddr>(context, operand, driver, "GenerateAddr", request);
        match call.await {
            Ok(response) if response.backend_addr.is_empty() => {
                let message = "the driver responded Succ without a backendAddr";
                self.event(Warning, "InvalidGenerateAddr", message);
                tracing::warn!(driver = %ObjectKey::of(driver), "{message}; retrying");
                let failure = OperationFailure {
                    reason: reasons::INVALID_RESPONSE,
                    message: message.to_owned(),
                    retry_delay: None,
                };
                self.conclude(Incomplete::Failed(failure)).await
            }
            Ok(response) => {
                let message = format!("addr: {}", response.backend_addr);
                self.event(Normal, "SuccGenerateAddr", &message);
                self.store_address(response.backend_addr).await
            }
            Err(incomplete) => self.conclude(incomplete).await,
        }
    }

    pub(super) async fn ensure(
        &self,
        driver: &LoadBalancerDriver,
        mut request: EnsureBackendRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, record) = (self.context, self.record);
        let operand = self.operand();
        let call = operate::<EnsureBackend>(context, operand, driver, "EnsureBackend", request);
        let response = match call.await {
            Ok(response) => response,
            Err(incomplete) => return self.conclude(incomplete).await,
        };
        let mut status = self.status();
        let is_new = !status.conditions.is_true(condition_types::REGISTERED);
        let injected_info = StringMap::from(response.injected_info);
        if let Some(message) = cannot_be_stored(&injected_info) {
            self.event(Warning, "InvalidEnsureBackend", &message);
            if is_new {
                self.undo(driver, injected_info).await;
            }
            let failure = OperationFailure {
                reason: reasons::INVALID_RESPONSE,
                message,
                retry_delay: None,
            };
            return self.conclude(Incomplete::Failed(failure)).await;
        }
        if is_new {
            self.event(Normal, "SuccEnsureBackend", "Successfully ensured backend");
        }
        let registered = Condition::met(condition_types::REGISTERED, record.metadata.generation);
        status.conditions = status.conditions.with(registered, context.now());
        // An empty map leaves the present one.
        if !injected_info.is_empty() {
            status.injected_info = injected_info;
        }
        let due = context
            .periods
            .restart(&self.key, period_of(context, record));
        self.write_status(status, true).await?;
        if is_new {
            self.measure();
        }
        Ok(due.action())
    }

    /// Deregisters a backend at once whose `injectedInfo` cannot be stored, as no later call could
    /// send it. If that fails, or the process ends before, the next ensureBackend returns it again.
    async fn undo(&self, driver: &LoadBalancerDriver, injected_info: StringMap) {
        let status = BackendRecordStatus {
            injected_info,
            ..self.status()
        };
        let request = DeregisterBackendRequest {
            retry_id: retry_id(),
            ..deregister_request(self.record, &status)
        };
        let operand = Operand::once(&self.regarding);
        let call =
            operate::<DeregisterBackend>(self.context, operand, driver, "Deregister", request);
        // An event reports what failed.
        let _ = call.await;
    }

    pub(super) async fn deregister(
        &self,
        driver: &LoadBalancerDriver,
        mut request: DeregisterBackendRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, operand) = (self.context, self.operand());
        let call = operate::<DeregisterBackend>(context, operand, driver, "Deregister", request);
        match call.await {
            Ok(_) => self.remove_finalizer().await,
            Err(incomplete) => self.conclude(incomplete).await,
        }
    }

    /// Measures how long the first registration took: one that failed after a change of the spec
    /// does not count from the record's creation.
    fn measure(&self) {
        let metadata = &self.record.metadata;
        let is_first = metadata.generation.is_none_or(|number| number <= 1);
        if let Some(created) = &metadata.creation_timestamp
            && is_first
        {
            let since = self.context.now().duration_since(created.0);
            // The API server's clock may be ahead.
            let since = Duration::try_from(since).unwrap_or_default();
            self.context.metrics.registered(since);
        }
    }
}
