//! Carrying out a load balancer's next step.

use super::decide::{Step, View, decide, delete_request, has_begun};
use crate::api::{
    Condition, ConditionStatus, Conditions, LoadBalancer, LoadBalancerDriver, LoadBalancerStatus,
    StringMap, condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::context::Context;
use crate::index::{Index, LoadBalancerOf, Lookup};
use crate::key::{ObjectKey, WorkKey};
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

/// Looks at a load balancer and does what comes next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    if let Err(progress) = context.make_sure(key, Index::load_balancer).await {
        return progress;
    }
    let Some(mut view) = look(context, key) else {
        return Progress::Settled;
    };
    if context.options.dry_run {
        assume_stored(&mut view);
    }
    let lb = &*view.lb;
    match (decide(&view), &view.driver) {
        (Step::Nothing, _) if is_going(lb) => Progress::Settled,
        (Step::Nothing, _) => view.due.then(),
        (Step::AddFinalizer, _) => {
            let mut finalizers = lb.metadata.finalizers.clone().unwrap_or_default();
            finalizers.push(FINALIZER_LOAD_BALANCER.to_owned());
            let then = Progress::Again;
            context
                .write_finalizers(lb, &finalizers, Index::load_balancer, then)
                .await
        }
        (Step::MarkCreating, _) => {
            let message = "the load balancer is being created";
            let creating = unmet(lb, condition_types::CREATED, reasons::CREATING, message);
            write(context, lb, with(lb, creating), Progress::Again).await
        }
        (Step::AwaitUnreadable, _) => {
            let message =
                "waiting: a BackendRecord cannot be understood and might be registered here";
            context.report(lb, Warning, "UnreadableBackendRecord", message);
            Progress::After(UNREADABLE_PAUSE)
        }
        (Step::ReportDriverMissing, _) => report_driver_missing(context, lb).await,
        (Step::Create(request), Lookup::Found(driver)) => {
            create(context, lb, driver, request).await
        }
        (Step::Ensure(request), Lookup::Found(driver)) => {
            ensure(context, lb, driver, request).await
        }
        (Step::FinishCreating(request), Lookup::Found(driver)) => {
            finish_creating(context, lb, driver, request).await
        }
        (Step::Delete(request), Lookup::Found(driver)) => {
            delete(context, lb, driver, request).await
        }
        // No webhook is decided on without a driver to call.
        (_, Lookup::Missing | Lookup::Unreadable) => Progress::Settled,
    }
}

/// A dry run goes on as if what is stored before the first call were stored.
fn assume_stored(view: &mut View) {
    let lb = Arc::make_mut(&mut view.lb);
    if is_going(lb) {
        return;
    }
    let finalizers = lb.metadata.finalizers.get_or_insert_default();
    finalizers.push(FINALIZER_LOAD_BALANCER.to_owned());
    let status = status_of(lb);
    if status.conditions.find(condition_types::CREATED).is_none() {
        let creating = unmet(lb, condition_types::CREATED, reasons::CREATING, "");
        lb.status = Some(with(lb, creating));
    }
}

fn look(context: &Context, key: &ObjectKey) -> Option<View> {
    let index = context.index();
    let lb = index.get_load_balancer(key).found()?;
    Some(View {
        driver: index.get_driver(&names::resolve(&key.namespace, &lb.spec.lb_driver)),
        records: index.records_of_load_balancer(&LoadBalancerOf::LoadBalancer(key.clone())),
        due: due(context, &lb),
        unreadable_records: index.has_unreadable_records(),
        lb,
    })
}

/// When a load balancer whose attributes are synced is ensured again (b18, u1).
fn due(context: &Context, lb: &LoadBalancer) -> Due {
    match period_of(context, lb) {
        Some(period) => context.periods.due(&work_key(lb), period),
        None => Due::Never,
    }
}

fn work_key(lb: &LoadBalancer) -> WorkKey {
    WorkKey::LoadBalancer(ObjectKey::of(lb))
}

fn period_of(context: &Context, lb: &LoadBalancer) -> Option<Duration> {
    let policy = lb.spec.ensure_policy.as_ref();
    period(policy, context.options.min_ensure_period)
}

/// Counts the period from now on.
fn restart(context: &Context, lb: &LoadBalancer) {
    if let Some(period) = period_of(context, lb) {
        context.periods.restart(&work_key(lb), period);
    }
}

const fn is_going(lb: &LoadBalancer) -> bool {
    lb.metadata.deletion_timestamp.is_some()
}

async fn report_driver_missing(context: &Context, lb: &LoadBalancer) -> Progress {
    let namespace = lb.metadata.namespace.as_deref().unwrap_or_default();
    let driver = names::resolve(namespace, &lb.spec.lb_driver);
    let message = format!("spec.lbDriver: LoadBalancerDriver {driver} not found");
    context.report(lb, Warning, reasons::DRIVER_NOT_FOUND, message.clone());
    if is_going(lb) {
        // A condition that says Created tells what there is to delete; it stays.
        return Progress::Settled;
    }
    let status = status_of(lb);
    let (type_, status) = if status.conditions.is_true(condition_types::CREATED) {
        (condition_types::ATTRIBUTES_SYNCED, ConditionStatus::False)
    } else if has_begun(&status) {
        (condition_types::CREATED, ConditionStatus::False)
    } else {
        (condition_types::CREATED, ConditionStatus::Unknown)
    };
    let missing = Condition {
        status,
        ..unmet(lb, type_, reasons::DRIVER_NOT_FOUND, &message)
    };
    write(context, lb, with(lb, missing), Progress::Settled).await
}

async fn create(
    context: &Context,
    lb: &LoadBalancer,
    driver: &LoadBalancerDriver,
    mut request: CreateLoadBalancerRequest,
) -> Progress {
    request.retry_id = retry_id();
    match operate::<CreateLoadBalancer, _>(context, (lb, ""), driver, CREATING, &request).await {
        Ok(response) => {
            let message = "Successfully created load balancer";
            context.report(lb, Normal, "SuccCreateLoadBalancer", message);
            restart(context, lb);
            let status = created(lb, &request, response.lb_info.into());
            write(context, lb, status, Progress::Again).await
        }
        Err(not_done) => tell(context, lb, condition_types::CREATED, not_done).await,
    }
}

async fn ensure(
    context: &Context,
    lb: &LoadBalancer,
    driver: &LoadBalancerDriver,
    mut request: EnsureLoadBalancerRequest,
) -> Progress {
    request.retry_id = retry_id();
    match operate::<EnsureLoadBalancer, _>(context, (lb, ""), driver, ENSURING, &request).await {
        Ok(_) => {
            let message = "Successfully ensured load balancer";
            context.report(lb, Normal, "SuccEnsureLoadBalancer", message);
            restart(context, lb);
            let synced = Condition::met(condition_types::ATTRIBUTES_SYNCED, lb.metadata.generation);
            let status = LoadBalancerStatus {
                last_synced_attributes: Some(request.attributes.into()),
                ..with(lb, synced)
            };
            write(context, lb, status, Progress::Again).await
        }
        Err(not_done) => tell(context, lb, condition_types::ATTRIBUTES_SYNCED, not_done).await,
    }
}

/// Only a finished creation tells what there is to delete. One that the driver says has failed
/// has left nothing that the controller could name.
async fn finish_creating(
    context: &Context,
    lb: &LoadBalancer,
    driver: &LoadBalancerDriver,
    mut request: CreateLoadBalancerRequest,
) -> Progress {
    request.retry_id = retry_id();
    match operate::<CreateLoadBalancer, _>(context, (lb, ""), driver, CREATING, &request).await {
        Ok(response) => {
            let status = created(lb, &request, response.lb_info.into());
            write(context, lb, status, Progress::Again).await
        }
        Err(NotDone::Failed {
            reason: reasons::OPERATION_FAILED,
            ..
        }) => {
            delete(
                context,
                lb,
                driver,
                delete_request(lb, &StringMap::default()),
            )
            .await
        }
        Err(not_done) => not_done.then(),
    }
}

async fn delete(
    context: &Context,
    lb: &LoadBalancer,
    driver: &LoadBalancerDriver,
    mut request: DeleteLoadBalancerRequest,
) -> Progress {
    request.retry_id = retry_id();
    if let Err(not_done) =
        operate::<DeleteLoadBalancer, _>(context, (lb, ""), driver, DELETING, &request).await
    {
        return not_done.then();
    }
    let mut finalizers = lb.metadata.finalizers.clone().unwrap_or_default();
    finalizers.retain(|finalizer| finalizer != FINALIZER_LOAD_BALANCER);
    let then = Progress::Settled;
    context
        .write_finalizers(lb, &finalizers, Index::load_balancer, then)
        .await
}

/// Says in a condition why something failed, and goes on as it says.
async fn tell(context: &Context, lb: &LoadBalancer, type_: &str, not_done: NotDone) -> Progress {
    match not_done {
        NotDone::Running(then) => then,
        NotDone::Failed {
            reason,
            message,
            then,
        } => {
            write(
                context,
                lb,
                with(lb, unmet(lb, type_, reason, &message)),
                then,
            )
            .await
        }
    }
}

/// The status of a load balancer that was just created: creating gave it its attributes too
/// (b102).
fn created(
    lb: &LoadBalancer,
    request: &CreateLoadBalancerRequest,
    lb_info: StringMap,
) -> LoadBalancerStatus {
    let generation = lb.metadata.generation;
    let now = Timestamp::now();
    let conditions = status_of(lb)
        .conditions
        .with(Condition::met(condition_types::CREATED, generation), now)
        .with(
            Condition::met(condition_types::ATTRIBUTES_SYNCED, generation),
            now,
        );
    LoadBalancerStatus {
        // b19: an empty identity means that lbSpec is the identity.
        lb_info: if lb_info.is_empty() {
            lb.spec.lb_spec.clone()
        } else {
            lb_info
        },
        last_synced_attributes: Some(request.attributes.clone().into()),
        conditions,
    }
}

fn unmet(lb: &LoadBalancer, type_: &str, reason: &str, message: &str) -> Condition {
    Condition::unmet(type_, reason, message, lb.metadata.generation)
}

fn with(lb: &LoadBalancer, condition: Condition) -> LoadBalancerStatus {
    let status = status_of(lb);
    let conditions = status.conditions.with(condition, Timestamp::now());
    LoadBalancerStatus {
        conditions,
        ..status
    }
}

fn status_of(lb: &LoadBalancer) -> LoadBalancerStatus {
    lb.status.clone().unwrap_or_default()
}

async fn write(
    context: &Context,
    lb: &LoadBalancer,
    status: LoadBalancerStatus,
    then: Progress,
) -> Progress {
    let old = lb.status.as_ref();
    context
        .write_status(lb, old, &status, Index::load_balancer, then)
        .await
}
