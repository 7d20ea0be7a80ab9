use super::ManagedLoadBalancer;
use super::decide::{
    Creation, LoadBalancerAction, LoadBalancerPhase, LoadBalancerState, Observations,
    cannot_be_stored, decide,
};
use super::waiting;
use crate::api::{
    Condition, ConditionStatus, Conditions, LoadBalancerDriver, StringMap,
    TargetLoadBalancerStatus, condition_types, reasons,
};
use crate::cluster::EventType::{self, Normal, Warning};
use crate::cluster::Regarding;
use crate::context::Context;
use crate::index::Lookup;
use crate::key::RequestKey;
use crate::load_balancer_driver::protect;
use crate::names::FINALIZER_LOAD_BALANCER;
use crate::object::ObjectExt;
use crate::operation::{Incomplete, Operand, operate, retry_id};
use crate::periodic::period;
use crate::reconcile::{Action, Error, OperationFailure};
use crate::waiting::{Wait, WaitEvent};
use jiff::Timestamp;
use kube::Resource;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest,
};
use std::time::Duration;

/// How often a load balancer that is being deleted checks whether all records can be parsed.
const UNREADABLE_INTERVAL: Duration = Duration::from_secs(10);

// The operations, as the reasons of events name them.
const CREATE: &str = "CreateLoadBalancer";
const ENSURE: &str = "EnsureLoadBalancer";
const DELETE: &str = "DeleteLoadBalancer";

pub(crate) async fn reconcile<L: ManagedLoadBalancer>(
    context: &Context,
    lb: &L,
) -> Result<Action, Error> {
    let key = lb.key();
    let period = period(
        lb.ensure_policy().as_ref(),
        context.options.min_ensure_period,
    );
    let (now, status) = (context.now(), lb.status());
    let retry_in = status.retry_after.as_deref().and_then(|stored| {
        let (times, conditions) = (&context.retry_times, &status.conditions);
        times.remaining(&key, stored, conditions, now)
    });
    let observations = {
        let index = context.index();
        Observations {
            driver: index.get(&lb.driver().1),
            records: index.records.count_of_load_balancer(&key),
            first_record: index.records.first_of_load_balancer(&key).cloned(),
            unreadable_records: index.records.has_unreadable(),
            due: context.periods.due(&key, period),
            retry_in,
            now,
            dry_run: context.options.dry_run,
        }
    };
    let mut state = lb.state(observations);
    if context.queue.is_backoff_ended(&key) {
        state.retry_wait = None;
    }
    let mut action = decide(&state);
    if context.options.dry_run && action == LoadBalancerAction::MarkCreating {
        state.creation = Creation::Begun;
        action = decide(&state);
    }
    let reconciler = Reconciler {
        context,
        lb,
        regarding: Regarding::part(lb.object(), lb.part()),
        status,
        key,
        period,
        state,
    };
    reconciler.perform(action).await
}

struct Reconciler<'a, L> {
    context: &'a Context,
    lb: &'a L,
    regarding: Regarding,
    status: TargetLoadBalancerStatus,
    key: RequestKey,
    period: Option<Duration>,
    state: LoadBalancerState,
}

impl<L: ManagedLoadBalancer> Reconciler<'_, L> {
    async fn perform(&self, action: LoadBalancerAction) -> Result<Action, Error> {
        let (context, lb) = (self.context, self.lb);
        match (action, &self.state.observations.driver) {
            (LoadBalancerAction::AwaitChange, _) => {
                context.end_wait(&self.key, &self.regarding);
                if lb.object().is_deleting() {
                    return Ok(Action::AwaitChange);
                }
                Ok(self.state.observations.due.action())
            }
            (LoadBalancerAction::Wait(wait), _) => Ok(Action::RequeueAfter(wait)),
            (LoadBalancerAction::AddFinalizer, _) => {
                context
                    .add_finalizer(lb.object(), FINALIZER_LOAD_BALANCER)
                    .await?;
                Ok(Action::RequeueNow)
            }
            (LoadBalancerAction::MarkCreating, _) => {
                let status = self.with_condition(lb.initial_status(), self.creating());
                lb.write_status(context, status).await?;
                Ok(Action::RequeueNow)
            }
            (LoadBalancerAction::MarkDeleting, _) => {
                let mut status = lb.status();
                status.deletion_timestamp = Some(format!("{:.0}", self.state.observations.now));
                lb.write_status(context, status).await?;
                Ok(Action::RequeueNow)
            }
            (LoadBalancerAction::AwaitRecords, _) => {
                let Observations {
                    records,
                    first_record,
                    ..
                } = &self.state.observations;
                let wait = waiting::records_remaining(*records, first_record.as_ref());
                self.wait(&wait).await
            }
            (LoadBalancerAction::AwaitDriver, _) => {
                let (field, driver) = lb.driver();
                self.wait(&waiting::driver_unreadable(&field, &driver))
                    .await
            }
            (LoadBalancerAction::AwaitUnreadable, _) => {
                let action = self.wait(&waiting::unreadable_record()).await?;
                Ok(action.at_most(UNREADABLE_INTERVAL))
            }
            (LoadBalancerAction::ReportDriverMissing, _) => {
                self.report_driver(reasons::DRIVER_NOT_FOUND, "not found")
                    .await
            }
            (LoadBalancerAction::ProtectDriver, _) => {
                protect(context, &lb.driver().1).await?;
                Ok(Action::RequeueNow)
            }
            (LoadBalancerAction::ReportDriverDeleting, _) => {
                let problem = "is being deleted, and nothing new is created with it";
                self.report_driver(reasons::DRIVER_DELETING, problem).await
            }
            (LoadBalancerAction::Remove, _) => {
                lb.remove(context).await?;
                Ok(Action::AwaitChange)
            }
            (LoadBalancerAction::Create(request), Lookup::Found(driver)) => {
                self.create(driver, request).await
            }
            (LoadBalancerAction::Ensure(request), Lookup::Found(driver)) => {
                self.ensure(driver, request).await
            }
            (LoadBalancerAction::FinishCreating(request), Lookup::Found(driver)) => {
                self.finish_creating(driver, request).await
            }
            (LoadBalancerAction::Delete(request), Lookup::Found(driver)) => {
                self.delete(driver, request).await
            }
            // No call is decided on without a driver.
            (_, Lookup::Missing | Lookup::Unreadable) => Ok(Action::AwaitChange),
        }
    }

    /// Reports why the load balancer waits. The driver's removal, and a new one, enqueue it.
    async fn report_driver(&self, reason: &'static str, problem: &str) -> Result<Action, Error> {
        let (field, driver) = self.lb.driver();
        let message = format!("{field}: LoadBalancerDriver {driver} {problem}");
        let wait = Wait::new(reason, message, WaitEvent::Problem);
        self.context.waits.begin(&self.key, reason, None);
        self.write_wait(&wait).await?;
        Ok(self.wait_event(&wait))
    }

    /// Reports a wait that has lasted for a moment, as most do not. The condition is written again
    /// at most once in the status interval, because the message may have a count.
    async fn wait(&self, wait: &Wait) -> Result<Action, Error> {
        let context = self.context;
        let lasted = context.waits.begin(&self.key, wait.reason, None).lasted;
        let delay = context.options.status_interval;
        if lasted < delay {
            return Ok(Action::RequeueAfter(delay - lasted));
        }
        let status = self.with_wait(wait);
        if status != self.status {
            if let Some(wait) = context.status_wait(&self.key) {
                return Ok(Action::RequeueAfter(wait));
            }
            context.note_status_write(self.key.clone());
            self.lb.write_status(context, status).await?;
        }
        Ok(self.wait_event(wait))
    }

    fn wait_event(&self, wait: &Wait) -> Action {
        let repeat = self.context.recorder.record_wait(&self.regarding, wait);
        repeat.map_or(Action::AwaitChange, Action::RequeueAfter)
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
        Condition {
            status: is_met,
            ..wait.condition(type_, self.generation())
        }
    }

    async fn write_wait(&self, wait: &Wait) -> Result<(), Error> {
        let status = self.with_wait(wait);
        self.lb.write_status(self.context, status).await
    }

    /// Nothing failed last, so that the next call need not wait for the time of a retry.
    fn with_wait(&self, wait: &Wait) -> TargetLoadBalancerStatus {
        TargetLoadBalancerStatus {
            retry_after: None,
            ..self.with_condition(self.lb.status(), self.waiting(wait))
        }
    }

    fn operand(&self) -> Operand<'_> {
        Operand {
            key: Some(&self.key),
            regarding: &self.regarding,
            conditions: &self.status.conditions,
        }
    }

    async fn create(
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

    async fn ensure(
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
                let status = self.synced(self.lb.status());
                self.lb.write_status(context, status).await?;
                Ok(Action::RequeueNow)
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
    async fn finish_creating(
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

    async fn delete(
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

    /// Creating also sets the attributes (b102).
    async fn write_created(&self, identity: StringMap) -> Result<Action, Error> {
        let created = Condition::met(condition_types::CREATED, self.generation());
        let mut status = self.synced(self.with_condition(self.lb.status(), created));
        status.lb_info = identity;
        self.lb.write_status(self.context, status).await?;
        Ok(Action::RequeueNow)
    }

    /// The status of a load balancer that has the attributes of the spec.
    fn synced(&self, status: TargetLoadBalancerStatus) -> TargetLoadBalancerStatus {
        let synced = Condition::met(L::SYNCED, self.generation());
        TargetLoadBalancerStatus {
            last_synced_attributes: Some(self.state.attributes.clone()),
            retry_after: None,
            ..self.with_condition(status, synced)
        }
    }

    /// b130: a load balancer that is ready stays so while its attributes change.
    async fn write_running(&self, running: Condition) -> Result<(), Error> {
        let status = self.lb.status();
        if L::IS_STATUS_DETAILED && !status.conditions.is_true(&running.type_) {
            let status = self.with_condition(status, running);
            self.lb.write_status(self.context, status).await?;
        }
        Ok(())
    }

    /// Sets a condition to a failure, and stores when the call is repeated, which binds the next
    /// process too (u29).
    async fn fail(
        &self,
        type_: &str,
        reason_of_fail: &'static str,
        failure: OperationFailure,
    ) -> Result<Action, Error> {
        let reason = match failure.reason {
            reasons::OPERATION_FAILED => reason_of_fail,
            reason => reason,
        };
        let failed = self.unmet(type_, reason, &failure.message);
        let mut status = self.with_condition(self.lb.status(), failed);
        let error: Error = match failure.retry_delay {
            _ if !L::IS_STATUS_DETAILED => failure.into(),
            Some(delay) => {
                status.retry_after = self.retry_time(delay);
                failure.into()
            }
            None => {
                let delay = self.context.queue.retry_delay(&self.key);
                status.retry_after = self.retry_time(delay);
                Error::BackingOff(failure, delay)
            }
        };
        self.lb.write_status(self.context, status).await?;
        Err(error)
    }

    fn creating(&self) -> Condition {
        let message = "the load balancer is being created";
        self.unmet(condition_types::CREATED, reasons::CREATING, message)
    }

    fn generation(&self) -> Option<i64> {
        self.lb.object().meta().generation
    }

    fn unmet(&self, type_: &str, reason: &str, message: &str) -> Condition {
        Condition::unmet(type_, reason, message, self.generation())
    }

    fn record(&self, event_type: EventType, reason: &str, message: &str) {
        let recorder = &self.context.recorder;
        recorder.record_change(&self.regarding, event_type, reason, message);
    }

    /// When a call that failed is repeated: to the millisecond and rounded up, as the delay could not be
    /// kept exactly in whole seconds.
    fn retry_time(&self, delay: Duration) -> Option<String> {
        let millis = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
        let now = self.context.now().as_millisecond();
        let at = now.saturating_add(millis).saturating_add(1);
        let at = Timestamp::from_millisecond(at).ok()?;
        let stored = format!("{at:.3}");
        // The wall clock may jump before then (d57).
        self.context.retry_times.insert(&self.key, &stored, delay);
        Some(stored)
    }

    fn with_condition(
        &self,
        status: TargetLoadBalancerStatus,
        condition: Condition,
    ) -> TargetLoadBalancerStatus {
        let conditions = status.conditions.with(condition, self.context.now());
        TargetLoadBalancerStatus {
            conditions,
            ..status
        }
    }
}
