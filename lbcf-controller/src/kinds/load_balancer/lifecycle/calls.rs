//! The calls of a load balancer's driver, and what their responses change.

use super::ManagedLoadBalancer;
use super::decide::cannot_be_stored;
use super::reconcile::Reconciler;
use crate::api::{Condition, LoadBalancerDriver, StringMap, condition_types, reasons};
use crate::cluster::EventType::{Normal, Warning};
use crate::runtime::operation::{Incomplete, operate, retry_id};
use crate::runtime::{Action, Error, OperationFailure};
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest,
};

// The operations, as the reasons of events name them.
const CREATE: &str = "CreateLoadBalancer";
const ENSURE: &str = "EnsureLoadBalancer";
const DELETE: &str = "DeleteLoadBalancer";

impl<L: ManagedLoadBalancer> Reconciler<'_, L> {
    pub(super) async fn create(
        &self,
        driver: &LoadBalancerDriver,
        mut request: CreateLoadBalancerRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, operand) = (self.context, self.operand());
        match operate::<CreateLoadBalancer>(context, operand, driver, CREATE, request).await {
            Ok(response) => {
                let identity = self.state.identity(response.lb_info.into());
                if let Some(message) = cannot_be_stored(&identity) {
                    self.record(Warning, "InvalidCreateLoadBalancer", &message);
                    let failure = OperationFailure {
                        reason: reasons::INVALID_RESPONSE,
                        message,
                        retry_delay: None,
                    };
                    return self
                        .fail(condition_types::CREATED, L::FAILED[0], failure)
                        .await;
                }
                let message = "Successfully created load balancer";
                self.record(Normal, "SuccCreateLoadBalancer", message);
                context.periods.restart(&self.key, self.period);
                self.write_created(identity).await
            }
            Err(incomplete) => {
                let (type_, running) = (condition_types::CREATED, self.creating());
                self.conclude(incomplete, type_, L::FAILED[0], Some(running))
                    .await
            }
        }
    }

    pub(super) async fn ensure(
        &self,
        driver: &LoadBalancerDriver,
        mut request: EnsureLoadBalancerRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, operand) = (self.context, self.operand());
        match operate::<EnsureLoadBalancer>(context, operand, driver, ENSURE, request).await {
            Ok(_) => {
                let message = "Successfully ensured load balancer";
                self.record(Normal, "SuccEnsureLoadBalancer", message);
                context.periods.restart(&self.key, self.period);
                self.store(self.synced(self.lb.status())).await
            }
            Err(incomplete) => {
                let message = "the load balancer's attributes are being changed";
                let running = self.unmet(L::SYNCED, reasons::ENSURING, message);
                self.conclude(incomplete, L::SYNCED, L::FAILED[1], Some(running))
                    .await
            }
        }
    }

    /// If the driver's response is that creating failed, it left nothing that could be named in the
    /// request to delete it.
    pub(super) async fn finish_creating(
        &self,
        driver: &LoadBalancerDriver,
        mut request: CreateLoadBalancerRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, operand) = (self.context, self.operand());
        match operate::<CreateLoadBalancer>(context, operand, driver, CREATE, request).await {
            Ok(response) => {
                let identity = self.state.identity(response.lb_info.into());
                if cannot_be_stored(&identity).is_none() {
                    return self.write_created(identity).await;
                }
                let request = self.state.delete_request(&identity);
                self.delete(driver, request).await
            }
            Err(Incomplete::Failed(failure)) if failure.reason == reasons::OPERATION_FAILED => {
                let request = self.state.delete_request(&StringMap::default());
                self.delete(driver, request).await
            }
            Err(incomplete) => {
                let type_ = if L::IS_STATUS_DETAILED {
                    condition_types::CREATED
                } else {
                    L::DELETION
                };
                self.conclude(incomplete, type_, reasons::OPERATION_FAILED, None)
                    .await
            }
        }
    }

    pub(super) async fn delete(
        &self,
        driver: &LoadBalancerDriver,
        mut request: DeleteLoadBalancerRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, operand) = (self.context, self.operand());
        match operate::<DeleteLoadBalancer>(context, operand, driver, DELETE, request).await {
            Ok(_) => {
                self.lb.remove(context).await?;
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
        reason_of_fail: &'static str,
        running: Option<Condition>,
    ) -> Result<Action, Error> {
        match incomplete {
            Incomplete::NotCalled(action) => Ok(action),
            Incomplete::Running(action) => {
                if let Some(running) = running {
                    self.write_running(running).await?;
                }
                Ok(action)
            }
            Incomplete::StillRunning(action, wait) => {
                self.write_wait(&wait).await?;
                Ok(action)
            }
            Incomplete::Failed(failure) => self.fail(type_, reason_of_fail, failure).await,
        }
    }
}
