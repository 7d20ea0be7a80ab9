//! The calls of a load balancer's driver, and what their responses change.

use super::ManagedLoadBalancer;
use super::reconcile::Reconciler;
use crate::api::reasons::{self, ReportReason};
use crate::api::{Condition, LoadBalancerDriver, ObjectKey, StringMap, condition_types};
use crate::cluster::EventType::{Normal, Warning};
use crate::drivers::one_call::shared_fields;
use crate::runtime::operation::{Incomplete, Operand, operate, retry_id};
use crate::runtime::{Action, Error, OperationFailure, Reporter};
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::{CreateLoadBalancer, DeleteLoadBalancer, EnsureLoadBalancer};

/// The load balancer that a driver created, or adopted, cannot be this object's.
struct RejectedCreation {
    /// Of the load balancer that has to be deleted; empty if that is not this object's.
    identity: StringMap,
    event: &'static ReportReason,
    failure: OperationFailure,
}

impl RejectedCreation {
    fn of_owner(namespace: &str) -> Self {
        let message = format!(
            "namespace {namespace} has this load balancer, and no scope of its LoadBalancer admits this namespace"
        );
        let reason = reasons::OWNED_BY_OTHER_NAMESPACE;
        Self {
            identity: StringMap::default(),
            event: reason,
            failure: OperationFailure {
                reason,
                message,
                retry_delay: None,
                is_unreceived: false,
            },
        }
    }
}

/// The fields that identify a load balancer: the one that the driver declares, or all.
fn shared_or_whole(driver: &LoadBalancerDriver, identity: &StringMap) -> StringMap {
    let shared = shared_fields(driver.annotations(), identity);
    let shared = shared.filter(|fields| !fields.is_empty());
    shared.unwrap_or_else(|| identity.clone())
}

impl<L: ManagedLoadBalancer> Reconciler<'_, L> {
    fn operand(&self) -> Operand<'_> {
        self.reporter.operand(&self.status.conditions)
    }

    /// Creates the load balancer; returns its identity.
    async fn call_create(
        &self,
        driver: &LoadBalancerDriver,
        mut request: CreateLoadBalancer,
    ) -> Result<Result<StringMap, RejectedCreation>, Incomplete> {
        request.retry_id = retry_id();
        let driver_key = ObjectKey::of(driver);
        // Where lbSpec is the identity, nothing need be called.
        let spec = shared_or_whole(driver, &self.state.spec);
        let key = &self.reporter.key;
        let context = self.reporter.context;
        if let Some(owner) = context.index().other_owner(&driver_key, &spec, key) {
            return Ok(Err(RejectedCreation::of_owner(&owner)));
        }
        let operand = self.operand();
        let call =
            operate::<CreateLoadBalancer>(operand, driver, reasons::CREATE_LOAD_BALANCER, request);
        let called = call.await;
        let is_received = match &called {
            Err(Incomplete::NotCalled(_)) => false,
            Err(Incomplete::Failed(failure)) => !failure.is_unreceived,
            _ => true,
        };
        if is_received {
            context.memory.note_creation(key, false);
        }
        let identity = self.state.identity(called?.lb_info.into());
        if let Some(message) = identity.excess("the load balancer's identity") {
            return Ok(Err(RejectedCreation {
                identity,
                event: reasons::CREATE_LOAD_BALANCER.invalid,
                failure: OperationFailure::invalid_response(message),
            }));
        }
        let shared = shared_or_whole(driver, &identity);
        let owner = context.index().claim(&driver_key, shared, key);
        Ok(owner.map_or(Ok(identity), |owner| {
            Err(RejectedCreation::of_owner(&owner))
        }))
    }

    pub(super) async fn create(
        &self,
        driver: &LoadBalancerDriver,
        request: CreateLoadBalancer,
    ) -> Result<Action, Error> {
        let (type_, reason) = (condition_types::CREATED, L::FAILED[0]);
        match self.call_create(driver, request).await {
            Ok(Err(RejectedCreation { event, failure, .. })) => {
                self.reporter.event(Warning, event, &failure.message);
                self.fail(type_, reason, failure).await
            }
            Ok(Ok(identity)) => {
                let message = "Successfully created load balancer";
                self.reporter.event(Normal, reasons::SUCC_CREATE, message);
                self.note_ensured();
                self.write_created(identity).await
            }
            Err(Incomplete::Failed(failure)) if self.is_unbegun(&failure) => {
                self.fail_unbegun(failure).await
            }
            Err(incomplete) => {
                let running = Some(self.creating());
                self.conclude(incomplete, type_, reason, running).await
            }
        }
    }

    /// True if no driver has got a call since creating began.
    fn is_unbegun(&self, failure: &OperationFailure) -> bool {
        let Reporter { context, key, .. } = &self.reporter;
        failure.is_unreceived && context.memory.is_creation_unreceived(key)
    }

    pub(super) async fn ensure(
        &self,
        driver: &LoadBalancerDriver,
        mut request: EnsureLoadBalancer,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let operand = self.operand();
        let call =
            operate::<EnsureLoadBalancer>(operand, driver, reasons::ENSURE_LOAD_BALANCER, request);
        match call.await {
            Ok(_) => {
                let message = "Successfully ensured load balancer";
                self.reporter.event(Normal, reasons::SUCC_ENSURE, message);
                self.note_ensured();
                self.store(self.synced(self.lb.status())).await
            }
            Err(Incomplete::Failed(failure)) if failure.reason == reasons::LOAD_BALANCER_GONE => {
                let message = format!(
                    "the load balancer does not exist any more, and is created again: {}",
                    failure.message
                );
                self.reporter.event(Warning, failure.reason, &message);
                self.write_gone(&message).await
            }
            Err(incomplete) => {
                let message = "the load balancer's attributes are being changed";
                let running = Some(self.unmet(L::SYNCED, reasons::ENSURING, message));
                self.conclude(incomplete, L::SYNCED, L::FAILED[1], running)
                    .await
            }
        }
    }

    fn note_ensured(&self) {
        let memory = &self.reporter.context.memory;
        memory.ensured(&self.reporter.key, self.period);
    }

    /// If the driver's response is that creating failed, it left nothing that could be named in the
    /// request to delete it.
    pub(super) async fn finish_creating(
        &self,
        driver: &LoadBalancerDriver,
        request: CreateLoadBalancer,
    ) -> Result<Action, Error> {
        let created = match self.call_create(driver, request).await {
            Ok(Ok(identity)) => return self.write_created(identity).await,
            Ok(Err(rejected)) => rejected.identity,
            Err(Incomplete::Failed(failure)) if self.is_unbegun(&failure) => {
                self.lb.remove(self.reporter.context).await?;
                return Ok(Action::RequeueNow);
            }
            Err(Incomplete::Failed(failure)) if failure.is_fail() => StringMap::default(),
            Err(incomplete) => {
                let type_ = if L::IS_STATUS_DETAILED {
                    condition_types::CREATED
                } else {
                    L::DELETION
                };
                let reason = reasons::OPERATION_FAILED;
                return self.conclude(incomplete, type_, reason, None).await;
            }
        };
        self.delete(driver, self.state.delete_request(&created))
            .await
    }

    pub(super) async fn delete(
        &self,
        driver: &LoadBalancerDriver,
        mut request: DeleteLoadBalancer,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let operand = self.operand();
        let call =
            operate::<DeleteLoadBalancer>(operand, driver, reasons::DELETE_LOAD_BALANCER, request);
        match call.await {
            Ok(_) => {
                self.lb.remove(self.reporter.context).await?;
                // A Bind may declare another one of the same name.
                Ok(Action::RequeueNow)
            }
            // Created stays true, because the load balancer still has to be deleted.
            Err(incomplete) => {
                let reason = reasons::OPERATION_FAILED;
                self.conclude(incomplete, L::DELETION, reason, None).await
            }
        }
    }

    /// Stores why an operation has not succeeded. `running` is the condition while it runs, if that is
    /// reported from the beginning.
    async fn conclude(
        &self,
        incomplete: Incomplete,
        type_: &str,
        reason_of_fail: &'static ReportReason,
        running: Option<Condition>,
    ) -> Result<Action, Error> {
        match &incomplete {
            Incomplete::NotCalled(_) => {}
            Incomplete::Running(_) => {
                if let Some(running) = running {
                    self.write_running(running).await?;
                }
            }
            Incomplete::StillRunning(_, wait) => self.write_wait(wait).await?,
            Incomplete::Failed(failure) => {
                return self.fail(type_, reason_of_fail, failure.clone()).await;
            }
        }
        incomplete.into_result()
    }
}
