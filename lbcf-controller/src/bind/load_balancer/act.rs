//! Carrying out the next step of a Bind's load balancer.

use super::decide::{Step, View, decide, delete_request, driver_name, has_begun};
use crate::api::{
    Bind, Condition, ConditionStatus, Conditions, LoadBalancerDriver, StringMap,
    TargetLoadBalancerStatus, condition_types, reasons,
};
use crate::bind::decide::load_balancer_policy;
use crate::bind::status;
use crate::cluster::EventType::{self, Normal, Warning};
use crate::context::Context;
use crate::index::{Index, LoadBalancerOf, Lookup};
use crate::key::{BindLoadBalancerKey, WorkKey};
use crate::names::{self, FINALIZER_LOAD_BALANCER};
use crate::operation::{CREATING, DELETING, ENSURING, NotDone, operate, retry_id};
use crate::periodic::{Due, period};
use crate::work::Progress;
use jiff::Timestamp;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest,
};
use std::sync::Arc;
use std::time::Duration;

/// How soon a load balancer looks again whether all records can be understood.
const UNREADABLE_PAUSE: Duration = Duration::from_secs(10);

/// Looks at one load balancer of a Bind and does what comes next.
pub(crate) async fn act(context: &Context, key: &BindLoadBalancerKey) -> Progress {
    if let Err(progress) = context.make_sure(&key.bind, Index::bind).await {
        return progress;
    }
    let Some(mut view) = look(context, key) else {
        return Progress::Settled;
    };
    if context.options.dry_run && view.bind.metadata.deletion_timestamp.is_none() {
        let metadata = &mut Arc::make_mut(&mut view.bind).metadata;
        let finalizers = metadata.finalizers.get_or_insert_default();
        finalizers.push(FINALIZER_LOAD_BALANCER.to_owned());
    }
    let mut step = decide(&view);
    if context.options.dry_run
        && let Step::MarkCreating(entry) = step
    {
        // A dry run goes on as if what is stored before the first call were stored.
        let creating = Condition::unmet(condition_types::CREATED, reasons::CREATING, "", None);
        let status = Arc::make_mut(&mut view.bind).status.get_or_insert_default();
        status.load_balancer_statuses.push(with(entry, creating));
        step = decide(&view);
    }
    let turn = Turn { context, key, view };
    match (step, &turn.view.driver) {
        (Step::Nothing, _) if turn.is_going() => Progress::Settled,
        (Step::Nothing, _) => turn.view.due.then(),
        (Step::Wait(wait), _) => Progress::After(wait),
        (Step::MarkCreating(entry), _) => {
            let message = "the load balancer is being created";
            let creating = turn.unmet(condition_types::CREATED, reasons::CREATING, message);
            turn.write(with(entry, creating), Progress::Again).await
        }
        (Step::MarkLeaving, _) => turn.mark_leaving().await,
        (Step::AwaitUnreadable, _) => {
            let message =
                "waiting: a BackendRecord cannot be understood and might be registered here";
            turn.report(Warning, "UnreadableBackendRecord", message);
            Progress::After(UNREADABLE_PAUSE)
        }
        (Step::ReportDriverMissing, _) => turn.report_driver_missing().await,
        (Step::Drop, _) => turn.drop_entry(Progress::Settled).await,
        (Step::Create(request), Lookup::Found(driver)) => turn.create(driver, request).await,
        (Step::Ensure(request), Lookup::Found(driver)) => turn.ensure(driver, request).await,
        (Step::FinishCreating(request), Lookup::Found(driver)) => {
            turn.finish_creating(driver, request).await
        }
        (Step::Delete(request), Lookup::Found(driver)) => turn.delete(driver, request).await,
        // No webhook is decided on without a driver to call.
        (_, Lookup::Missing | Lookup::Unreadable) => Progress::Settled,
    }
}

fn look(context: &Context, key: &BindLoadBalancerKey) -> Option<View> {
    let index = context.index();
    let bind = index.get_bind(&key.bind).found()?;
    let driver = driver_name(&bind, &key.name).map_or(Lookup::Missing, |driver| {
        index.get_driver(&names::resolve(&key.bind.namespace, driver))
    });
    let due = match period_of(context, &bind) {
        Some(period) => context
            .periods
            .due(&WorkKey::BindLoadBalancer(key.clone()), period),
        None => Due::Never,
    };
    Some(View {
        driver,
        records: index.records_of_load_balancer(&LoadBalancerOf::Bind(key.clone())),
        unreadable_records: index.has_unreadable_records(),
        due,
        now: Timestamp::now(),
        name: key.name.clone(),
        bind,
    })
}

fn period_of(context: &Context, bind: &Bind) -> Option<Duration> {
    let policy = load_balancer_policy(bind);
    period(policy.as_ref(), context.options.min_ensure_period)
}

/// One look at one load balancer.
struct Turn<'a> {
    context: &'a Context,
    key: &'a BindLoadBalancerKey,
    view: View,
}

impl Turn<'_> {
    fn is_going(&self) -> bool {
        self.view.bind.metadata.deletion_timestamp.is_some()
    }

    /// The entry as it stands; a new one where there is none.
    fn entry(&self) -> TargetLoadBalancerStatus {
        let bind = &*self.view.bind;
        status::entry(bind, &self.key.name)
            .cloned()
            .unwrap_or_else(|| TargetLoadBalancerStatus {
                name: self.key.name.clone(),
                driver: driver_name(bind, &self.key.name)
                    .unwrap_or_default()
                    .to_owned(),
                ..TargetLoadBalancerStatus::default()
            })
    }

    fn generation(&self) -> Option<i64> {
        self.view.bind.metadata.generation
    }

    fn unmet(&self, type_: &str, reason: &str, message: &str) -> Condition {
        Condition::unmet(type_, reason, message, self.generation())
    }

    fn report(&self, event_type: EventType, reason: &'static str, message: &str) {
        let (bind, name) = (&*self.view.bind, &self.key.name);
        self.context
            .report_part(bind, name, event_type, reason, message);
    }

    async fn write(&self, entry: TargetLoadBalancerStatus, then: Progress) -> Progress {
        status::write(self.context, &self.view.bind, self.key, Some(&entry), then).await
    }

    async fn drop_entry(&self, then: Progress) -> Progress {
        status::write(self.context, &self.view.bind, self.key, None, then).await
    }

    async fn mark_leaving(&self) -> Progress {
        let entry = TargetLoadBalancerStatus {
            deletion_timestamp: Some(format!("{:.0}", self.view.now)),
            ..self.entry()
        };
        self.write(entry, Progress::Again).await
    }

    async fn report_driver_missing(&self) -> Progress {
        let bind = &*self.view.bind;
        let name = driver_name(bind, &self.key.name).unwrap_or_default();
        let driver = names::resolve(&self.key.bind.namespace, name);
        let lb = &self.key.name;
        let message =
            format!("spec.loadBalancers[name={lb}].driver: LoadBalancerDriver {driver} not found");
        let reason = reasons::DRIVER_NOT_FOUND;
        self.report(Warning, reason, &message);
        let entry = self.entry();
        if self.is_going() || entry.deletion_timestamp.is_some() {
            // A condition that says Created tells what there is to delete; it stays.
            return Progress::Settled;
        }
        let (type_, status) = if entry.conditions.is_true(condition_types::CREATED) {
            (condition_types::READY, ConditionStatus::False)
        } else if has_begun(&entry) {
            (condition_types::CREATED, ConditionStatus::False)
        } else {
            (condition_types::CREATED, ConditionStatus::Unknown)
        };
        let missing = Condition {
            status,
            ..self.unmet(type_, reason, &message)
        };
        self.write(with(entry, missing), Progress::Settled).await
    }

    async fn create(
        &self,
        driver: &LoadBalancerDriver,
        mut request: CreateLoadBalancerRequest,
    ) -> Progress {
        request.retry_id = retry_id();
        let about = (&*self.view.bind, self.key.name.as_str());
        match operate::<CreateLoadBalancer, _>(self.context, about, driver, CREATING, &request)
            .await
        {
            Ok(response) => {
                let message = "Successfully created load balancer";
                self.report(Normal, "SuccCreateLoadBalancer", message);
                self.restart();
                let entry = self.created(request, response.lb_info.into());
                self.write(entry, Progress::Again).await
            }
            Err(NotDone::Running(then)) => {
                let message = "the load balancer is being created";
                let creating = self.unmet(condition_types::CREATED, reasons::CREATING, message);
                self.write(with(self.entry(), creating), then).await
            }
            Err(NotDone::Failed {
                reason,
                message,
                then,
            }) => {
                let reason = failure(reason, reasons::CREATE_FAILED);
                let failed = self.unmet(condition_types::CREATED, reason, &message);
                self.fail(with(self.entry(), failed), then).await
            }
        }
    }

    async fn ensure(
        &self,
        driver: &LoadBalancerDriver,
        mut request: EnsureLoadBalancerRequest,
    ) -> Progress {
        request.retry_id = retry_id();
        let about = (&*self.view.bind, self.key.name.as_str());
        match operate::<EnsureLoadBalancer, _>(self.context, about, driver, ENSURING, &request)
            .await
        {
            Ok(_) => {
                let message = "Successfully ensured load balancer";
                self.report(Normal, "SuccEnsureLoadBalancer", message);
                self.restart();
                let ready = Condition::met(condition_types::READY, self.generation());
                let entry = TargetLoadBalancerStatus {
                    last_synced_attributes: Some(request.attributes.into()),
                    retry_after: None,
                    ..with(self.entry(), ready)
                };
                self.write(entry, Progress::Again).await
            }
            Err(NotDone::Running(then)) => {
                // b130: one that was ready stays so while its attributes change.
                let entry = self.entry();
                if entry.conditions.is_true(condition_types::READY) {
                    return then;
                }
                let message = "the load balancer's attributes are being changed";
                let ensuring = self.unmet(condition_types::READY, reasons::ENSURING, message);
                self.write(with(entry, ensuring), then).await
            }
            Err(NotDone::Failed {
                reason,
                message,
                then,
            }) => {
                let reason = failure(reason, reasons::ENSURE_FAILED);
                let failed = self.unmet(condition_types::READY, reason, &message);
                self.fail(with(self.entry(), failed), then).await
            }
        }
    }

    /// Only a finished creation tells what there is to delete. One that the driver says has failed
    /// has left nothing that the controller could name but what it was to be made from.
    async fn finish_creating(
        &self,
        driver: &LoadBalancerDriver,
        mut request: CreateLoadBalancerRequest,
    ) -> Progress {
        request.retry_id = retry_id();
        let about = (&*self.view.bind, self.key.name.as_str());
        match operate::<CreateLoadBalancer, _>(self.context, about, driver, CREATING, &request)
            .await
        {
            Ok(response) => {
                let entry = self.created(request, response.lb_info.into());
                self.write(entry, Progress::Again).await
            }
            Err(NotDone::Failed {
                reason: reasons::OPERATION_FAILED,
                ..
            }) => {
                let entry = self.entry();
                let request = delete_request(&self.view, &entry, &StringMap::default());
                self.delete(driver, request).await
            }
            Err(NotDone::Failed {
                reason,
                message,
                then,
            }) => {
                let failed = self.unmet(condition_types::CREATED, reason, &message);
                self.fail(with(self.entry(), failed), then).await
            }
            Err(NotDone::Running(then)) => then,
        }
    }

    async fn delete(
        &self,
        driver: &LoadBalancerDriver,
        mut request: DeleteLoadBalancerRequest,
    ) -> Progress {
        request.retry_id = retry_id();
        let about = (&*self.view.bind, self.key.name.as_str());
        match operate::<DeleteLoadBalancer, _>(self.context, about, driver, DELETING, &request)
            .await
        {
            // One of the same name may be wanted again.
            Ok(_) => self.drop_entry(Progress::Again).await,
            Err(NotDone::Failed {
                reason,
                message,
                then,
            }) => {
                // That it was created stays: it tells what there is to delete.
                let failed = self.unmet(condition_types::READY, reason, &message);
                self.fail(with(self.entry(), failed), then).await
            }
            Err(NotDone::Running(then)) => then,
        }
    }

    /// Stores when it is tried again, which holds for the next process too (u29).
    async fn fail(&self, entry: TargetLoadBalancerStatus, then: Progress) -> Progress {
        let wait = match then {
            Progress::Retry(Some(wait)) => wait,
            _ => {
                let key = WorkKey::BindLoadBalancer(self.key.clone());
                self.context.queue.retry_delay(&key)
            }
        };
        // To the millisecond and never too early: in whole seconds it could not be kept exactly.
        let millis = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        let at = Timestamp::now().as_millisecond().saturating_add(millis);
        let at = Timestamp::from_millisecond(at.saturating_add(1)).ok();
        let entry = TargetLoadBalancerStatus {
            retry_after: at.map(|at| format!("{at:.3}")),
            ..entry
        };
        self.write(entry, Progress::Retry(Some(wait))).await
    }

    fn created(
        &self,
        request: CreateLoadBalancerRequest,
        lb_info: StringMap,
    ) -> TargetLoadBalancerStatus {
        let generation = self.generation();
        let entry = with(
            self.entry(),
            Condition::met(condition_types::CREATED, generation),
        );
        let entry = with(entry, Condition::met(condition_types::READY, generation));
        TargetLoadBalancerStatus {
            // b19: an empty identity means that the spec is the identity.
            lb_info: if lb_info.is_empty() {
                request.lb_spec.into()
            } else {
                lb_info
            },
            last_synced_attributes: Some(request.attributes.into()),
            retry_after: None,
            ..entry
        }
    }

    /// Counts the period of `Always` from now on.
    fn restart(&self) {
        if let Some(period) = period_of(self.context, &self.view.bind) {
            let key = WorkKey::BindLoadBalancer(self.key.clone());
            self.context.periods.restart(&key, period);
        }
    }
}

/// b39: what a driver says has failed has reasons of its own.
fn failure(reason: &'static str, said_by_driver: &'static str) -> &'static str {
    if reason == reasons::OPERATION_FAILED {
        said_by_driver
    } else {
        reason
    }
}

fn with(entry: TargetLoadBalancerStatus, condition: Condition) -> TargetLoadBalancerStatus {
    let conditions = entry.conditions.with(condition, Timestamp::now());
    TargetLoadBalancerStatus {
        conditions,
        ..entry
    }
}
