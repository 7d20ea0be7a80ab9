//! A load balancer's status and events while it waits, and after a call.

use super::ManagedLoadBalancer;
use super::decide::{Creation, LoadBalancerPhase};
use super::reconcile::Reconciler;
use crate::api::reasons::{self, ReportReason};
use crate::api::{
    Condition, ConditionStatus, Conditions, StringMap, TargetLoadBalancerStatus, condition_types,
};
use crate::cluster::Wait;
use crate::runtime::{Action, Error, OperationFailure, Reporter};
use jiff::Timestamp;
use std::time::Duration;

impl<L: ManagedLoadBalancer> Reconciler<'_, L> {
    pub(super) async fn report_driver(
        &self,
        reason: &'static ReportReason,
        problem: &str,
    ) -> Result<Action, Error> {
        let (field, driver) = self.lb.driver();
        let wait = self
            .reporter
            .driver_wait((&field, &driver), reason, problem);
        self.report(&wait).await
    }

    pub(super) async fn report_no_response(&self, problem: &str) -> Result<Action, Error> {
        let (field, driver) = self.lb.driver();
        let problem = format!("LoadBalancerDriver {driver} does not respond: {problem}");
        let failure = OperationFailure::unreceived(format!("{field}: {problem}"));
        self.fail_unbegun(failure).await
    }

    /// Reports a wait at once.
    pub(super) async fn report(&self, wait: &Wait) -> Result<Action, Error> {
        self.write_wait(wait).await?;
        Ok(self.reporter.wait_event(wait))
    }

    /// The condition is written again at most once in the status interval, because the message may have a
    /// count.
    pub(super) async fn wait(&self, wait: &Wait) -> Result<Action, Error> {
        if let Some(left) = self.reporter.unreported(wait) {
            return Ok(Action::RequeueAfter(left));
        }
        let Reporter { context, key, .. } = &self.reporter;
        let status = self.with_wait(wait);
        if status != self.status {
            if let Some(wait) = context.memory.status_wait(key) {
                return Ok(Action::RequeueAfter(wait));
            }
            context.memory.note_status_write(key);
            self.lb.write_status(context, status).await?;
        }
        Ok(self.reporter.wait_event(wait))
    }

    /// The condition of a wait. That of one that is being deleted is not `Created`, which stays
    /// true, because the load balancer still has to be deleted.
    fn waiting(&self, wait: &Wait) -> Condition {
        let (type_, is_met) = match (self.state.phase, self.state.creation) {
            (LoadBalancerPhase::Deleting, _) => (L::DELETION, ConditionStatus::False),
            (_, Creation::Created) => (L::SYNCED, ConditionStatus::False),
            (_, Creation::Begun) => (condition_types::CREATED, ConditionStatus::False),
            (_, Creation::NotBegun) => (condition_types::CREATED, ConditionStatus::Unknown),
        };
        wait.condition(type_, self.generation()).with_status(is_met)
    }

    pub(super) async fn write_wait(&self, wait: &Wait) -> Result<(), Error> {
        let status = self.with_wait(wait);
        self.lb.write_status(self.reporter.context, status).await
    }

    /// Nothing failed last, so that the next call need not wait for the time of a retry.
    fn with_wait(&self, wait: &Wait) -> TargetLoadBalancerStatus {
        TargetLoadBalancerStatus {
            retry_after: None,
            ..self.with_condition(self.lb.status(), self.waiting(wait))
        }
    }

    /// Creating also sets the attributes.
    pub(super) async fn write_created(&self, identity: StringMap) -> Result<Action, Error> {
        let created = Condition::met(condition_types::CREATED, self.generation());
        let mut status = self.synced(self.with_condition(self.lb.status(), created));
        status.lb_info = identity;
        self.store(status).await
    }

    /// As if creating had begun and its result were not known: the next call creates the load balancer, and its
    /// backends leave until then.
    pub(super) async fn write_gone(&self, message: &str) -> Result<Action, Error> {
        let (type_, reason) = (condition_types::CREATED, reasons::LOAD_BALANCER_GONE);
        let gone = self.unmet(type_, reason, message);
        let mut status = self.with_condition(self.lb.status(), gone);
        status.lb_info = StringMap::default();
        self.store(status).await
    }

    /// The status of a load balancer that has the attributes of the spec.
    pub(super) fn synced(&self, status: TargetLoadBalancerStatus) -> TargetLoadBalancerStatus {
        let synced = Condition::met(L::SYNCED, self.generation());
        TargetLoadBalancerStatus {
            last_synced_attributes: Some(self.state.attributes.clone()),
            retry_after: None,
            ..self.with_condition(status, synced)
        }
    }

    /// A load balancer that is ready stays so while its attributes change.
    pub(super) async fn write_running(&self, running: Condition) -> Result<(), Error> {
        let status = self.lb.status();
        if L::IS_STATUS_DETAILED && !status.conditions.is_true(&running.type_) {
            let status = self.with_condition(status, running);
            self.lb.write_status(self.reporter.context, status).await?;
        }
        Ok(())
    }

    /// Sets a condition to a failure, and stores when the call is repeated, which binds the next
    /// process too.
    pub(super) async fn fail(
        &self,
        type_: &str,
        reason_of_fail: &'static ReportReason,
        failure: OperationFailure,
    ) -> Result<Action, Error> {
        let reason = match failure.reason {
            reasons::OPERATION_FAILED => reason_of_fail,
            reason => reason,
        };
        let failed = self.unmet(type_, reason, &failure.message);
        self.fail_with(failed, failure).await
    }

    /// Sets the condition that creating has not begun, as no driver got the call: then it is deleted without one.
    pub(super) async fn fail_unbegun(&self, failure: OperationFailure) -> Result<Action, Error> {
        let failed = self.unmet(condition_types::CREATED, failure.reason, &failure.message);
        let failed = failed.with_status(ConditionStatus::Unknown);
        self.fail_with(failed, failure).await
    }

    async fn fail_with(
        &self,
        failed: Condition,
        failure: OperationFailure,
    ) -> Result<Action, Error> {
        let mut status = self.with_condition(self.lb.status(), failed);
        let error: Error = match failure.retry_delay {
            _ if !L::IS_STATUS_DETAILED => failure.into(),
            Some(delay) => {
                status.retry_after = self.retry_time(delay);
                failure.into()
            }
            None => {
                let queue = &self.reporter.context.queue;
                let delay = queue.retry_delay(&self.reporter.key, &failure);
                status.retry_after = self.retry_time(delay);
                Error::BackingOff(failure, delay)
            }
        };
        self.lb.write_status(self.reporter.context, status).await?;
        Err(error)
    }

    pub(super) fn creating(&self) -> Condition {
        let message = "the load balancer is being created";
        self.unmet(condition_types::CREATED, reasons::CREATING, message)
    }

    pub(super) fn unmet(&self, type_: &str, reason: &ReportReason, message: &str) -> Condition {
        Condition::unmet(type_, reason, message, self.generation())
    }

    /// When a call that failed is repeated: to the millisecond and rounded up, as the delay could not be
    /// kept exactly in whole seconds.
    fn retry_time(&self, delay: Duration) -> Option<String> {
        let millis = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
        let now = self.reporter.context.now().as_millisecond();
        let at = now.saturating_add(millis).saturating_add(1);
        let at = Timestamp::from_millisecond(at).ok()?;
        let stored = format!("{at:.3}");
        // The wall clock may jump before then.
        self.reporter
            .context
            .memory
            .set_retry(&self.reporter.key, &stored, delay);
        Some(stored)
    }

    pub(super) fn with_condition(
        &self,
        status: TargetLoadBalancerStatus,
        condition: Condition,
    ) -> TargetLoadBalancerStatus {
        let conditions = status
            .conditions
            .with(condition, self.reporter.context.now());
        TargetLoadBalancerStatus {
            conditions,
            ..status
        }
    }
}
