//! The calls of a record's driver, and what their responses change.

use super::decide::{backend_unavailable, deregister_request};
use super::latency::{elapsed, leaves_since, waits_since};
use super::reconcile::{Reconciler, period_of};
use crate::api::{
    BackendRecord, BackendRecordStatus, Condition, Conditions, LoadBalancerDriver, ObjectKey,
    StringMap, condition_types, reasons,
};
use crate::backends::{address_problem, fetch};
use crate::cluster::EventType::Warning;
use crate::drivers::call_span;
use crate::index::{Index, Owner, Request, load_balancer_of};
use crate::process::metrics::Target;
use crate::runtime::operation::{Incomplete, Operand, operate, retry_id, settle};
use crate::runtime::{Action, Error, OperationFailure, Reporter};
use jiff::Timestamp;
use lbcf_driver_sdk::webhook::{
    DeregisterBackend, EnsureBackend, GenerateBackendAddr, OperationRequest,
};

impl Reconciler<'_> {
    fn operand(&self) -> Operand<'_> {
        let status = self.record.status.as_ref();
        let conditions = status.map_or(&[][..], |status| &status.conditions);
        self.reporter.operand(conditions)
    }

    pub(super) async fn generate(
        &self,
        driver: &LoadBalancerDriver,
        mut request: GenerateBackendAddr,
    ) -> Result<Action, Error> {
        let Reporter { context, key, .. } = &self.reporter;
        if let Some(wait) = (context.memory).pause_left(&ObjectKey::of(driver), Some(key)) {
            return Ok(Action::RequeueAfter(wait));
        }
        let answer = context.first_answers.take(key.object());
        if let Err(error) = fetch(context, self.record, &mut request).await {
            if matches!(error, Error::BackendChanged(_)) {
                self.report(&backend_unavailable(self.record)).await?;
            }
            return Err(error);
        }
        request.retry_id = retry_id();
        let (operand, operation) = (self.operand(), reasons::GENERATE_BACKEND_ADDR);
        let result = match answer {
            Some(answer) => {
                let (namespace, name) = self.reporter.regarding.name();
                let request = request.about(namespace, name);
                let settle = || settle(operand, driver, operation, &request, answer);
                call_span::<GenerateBackendAddr>(driver).in_scope(settle)
            }
            None => operate(operand, driver, operation, request).await,
        };
        match result {
            Ok(response) => {
                if let Some(message) = address_problem(&response.backend_addr) {
                    self.reporter
                        .event(Warning, reasons::GENERATE_BACKEND_ADDR.invalid, &message);
                    tracing::warn!(driver = %ObjectKey::of(driver), "{message}; retrying");
                    let failure = OperationFailure::invalid_response(message);
                    return self.conclude(Incomplete::Failed(failure)).await;
                }
                self.store_address(response.backend_addr).await
            }
            Err(incomplete) => self.conclude(incomplete).await,
        }
    }

    pub(super) async fn ensure(
        &self,
        driver: &LoadBalancerDriver,
        mut request: EnsureBackend,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, record) = (self.reporter.context, self.record);
        let call =
            operate::<EnsureBackend>(self.operand(), driver, reasons::ENSURE_BACKEND, request);
        let response = match call.await {
            Ok(response) => response,
            Err(incomplete) => {
                self.note_failure(&incomplete);
                return self.conclude(incomplete).await;
            }
        };
        let mut status = self.status();
        let is_new = !status.conditions.is_true(condition_types::REGISTERED);
        let injected_info = StringMap::from(response.injected_info);
        if let Some(message) = injected_info.excess("injectedInfo") {
            self.reporter
                .event(Warning, reasons::ENSURE_BACKEND.invalid, &message);
            if is_new {
                self.undo(driver, injected_info).await;
            }
            let failure = OperationFailure::invalid_response(message);
            return self.conclude(Incomplete::Failed(failure)).await;
        }
        let registered = Condition::met(condition_types::REGISTERED, record.metadata.generation);
        status.conditions = status.conditions.with(registered, context.now());
        // An empty map leaves the present one.
        if !injected_info.is_empty() {
            status.injected_info = injected_info;
        }
        let period = period_of(context, record);
        let due = context.memory.ensured(&self.reporter.key, period);
        self.write_status(status, true).await?;
        if is_new {
            self.measure(Target::Registered, waits_since);
        }
        Ok(due.action())
    }

    fn note_failure(&self, incomplete: &Incomplete) {
        let Incomplete::Failed(failure) = incomplete else {
            return;
        };
        match failure.reason {
            reasons::QUOTA_EXCEEDED => self.note_refusal(),
            reasons::NOT_FOUND => self.ensure_load_balancer_soon(),
            _ => {}
        }
    }

    /// Remembers that there was no room for a backend that replaces others, for its owner to make room.
    fn note_refusal(&self) {
        let context = self.reporter.context;
        if let Some(owner) = Owner::of(self.record)
            && context.index().is_replacing(&owner)
        {
            let record = ObjectKey::of(self.record);
            let key = owner.request_key();
            context.memory.room(&key, |room| room.refuse(record));
            context.queue.add([Request::normal(key)]);
        }
    }

    /// A load balancer that does not exist any more is created again when that is found out. One that is not ensured
    /// regularly is left alone.
    fn ensure_load_balancer_soon(&self) {
        let (context, lb) = (self.reporter.context, load_balancer_of(self.record));
        let soon = context.options.min_ensure_period;
        if context.memory.ensure_within(&lb, soon) {
            context.queue.add([Request::normal(lb)]);
        }
    }

    /// Deregisters a backend at once whose `injectedInfo` cannot be stored, as no later call could
    /// send it. If that fails, or the process ends before, the next ensureBackend returns it again.
    async fn undo(&self, driver: &LoadBalancerDriver, injected_info: StringMap) {
        let status = BackendRecordStatus {
            injected_info,
            ..self.status()
        };
        let request = DeregisterBackend {
            retry_id: retry_id(),
            ..deregister_request(self.record, &status)
        };
        let operand = Operand::once(self.reporter.context, &self.reporter.regarding);
        let call =
            operate::<DeregisterBackend>(operand, driver, reasons::DEREGISTER_BACKEND, request);
        // An event reports what failed.
        let _ = call.await;
    }

    pub(super) async fn deregister(
        &self,
        driver: &LoadBalancerDriver,
        mut request: DeregisterBackend,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let context = self.reporter.context;
        context.index().begin_deregistration(self.record);
        let call = operate::<DeregisterBackend>(
            self.operand(),
            driver,
            reasons::DEREGISTER_BACKEND,
            request,
        );
        match call.await {
            Ok(_) => {
                let action = self.remove_finalizer().await?;
                self.measure(Target::Deregistered, leaves_since);
                Ok(action)
            }
            Err(incomplete) => self.conclude(incomplete).await,
        }
    }

    /// Measures how long the backend took to be what it is now, once that is stored.
    fn measure(
        &self,
        target: Target,
        since: impl FnOnce(&Index, &BackendRecord) -> Option<Timestamp>,
    ) {
        let context = self.reporter.context;
        let since = since(&context.index(), self.record);
        if let Some(since) = since {
            let took = elapsed(since, context.now());
            context.drivers.reached(&self.driver_key(), target, took);
        }
    }
}
