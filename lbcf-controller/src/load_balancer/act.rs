//! Carrying out a load balancer's next step.

use super::decide::{Step, View, decide, delete_request};
use crate::api::{
    Condition, Conditions, LoadBalancer, LoadBalancerStatus, StringMap, condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::context::{Context, after_failed_write};
use crate::index::{Index, Lookup};
use crate::key::ObjectKey;
use crate::names::{self, FINALIZER_LOAD_BALANCER};
use crate::outcome::{Outcome, in_full, poll, retry_id};
use crate::work::Progress;
use jiff::Timestamp;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest,
};

/// Looks at a load balancer and does what comes next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    let Some(view) = look(context, key) else {
        return Progress::Settled;
    };
    match decide(&view) {
        Step::Nothing => Progress::Settled,
        Step::AddFinalizer => add_finalizer(context, &view.lb).await,
        Step::MarkCreating => {
            let message = "the load balancer is being created";
            let creating = unmet(
                &view.lb,
                condition_types::CREATED,
                reasons::CREATING,
                message,
            );
            write(context, &view.lb, with(&view.lb, creating), Progress::Again).await
        }
        Step::ReportDriverMissing => report_driver_missing(context, &view.lb).await,
        Step::Create(request) => create(context, &view, request).await,
        Step::Ensure(request) => ensure(context, &view, request).await,
        Step::FinishCreating(request) => finish_creating(context, &view, request).await,
        Step::Delete(request) => delete(context, &view, request).await,
    }
}

fn look(context: &Context, key: &ObjectKey) -> Option<View> {
    let index = context.index();
    let lb = index.get_load_balancer(key).found()?;
    Some(View {
        driver: index.get_driver(&names::resolve(&key.namespace, &lb.spec.lb_driver)),
        records: index.records_of_load_balancer(key),
        unreadable_records: index.has_unreadable_records(),
        lb,
    })
}

async fn add_finalizer(context: &Context, lb: &LoadBalancer) -> Progress {
    let mut finalizers = lb.metadata.finalizers.clone().unwrap_or_default();
    finalizers.push(FINALIZER_LOAD_BALANCER.to_owned());
    match context.cluster.finalizers(lb, &finalizers).await {
        Ok(lb) => {
            context.written(lb, Index::load_balancer);
            Progress::Again
        }
        Err(error) => after_failed_write(&error),
    }
}

async fn report_driver_missing(context: &Context, lb: &LoadBalancer) -> Progress {
    let driver = names::resolve(
        lb.metadata.namespace.as_deref().unwrap_or_default(),
        &lb.spec.lb_driver,
    );
    let message = format!("spec.lbDriver: LoadBalancerDriver {driver} not found");
    context.report(lb, Warning, reasons::DRIVER_NOT_FOUND, message.clone());
    let type_ = open_condition(lb);
    let status = with(lb, unmet(lb, type_, reasons::DRIVER_NOT_FOUND, &message));
    // Where it is going, only the finalizer says whether creating was begun; see `decide`.
    if lb.metadata.deletion_timestamp.is_some() {
        return Progress::Settled;
    }
    write(context, lb, status, Progress::Settled).await
}

async fn create(
    context: &Context,
    view: &View,
    mut request: CreateLoadBalancerRequest,
) -> Progress {
    let (lb, Lookup::Found(driver)) = (&*view.lb, &view.driver) else {
        return Progress::Settled;
    };
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<CreateLoadBalancer>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(response) => {
            context.report(
                lb,
                Normal,
                "SuccCreateLoadBalancer",
                "Successfully created load balancer",
            );
            let status = created(lb, &request, response.lb_info.into());
            write(context, lb, status, Progress::Again).await
        }
        Outcome::Running { message, delay } => {
            context.report(
                lb,
                Normal,
                "RunningCreateLoadBalancer",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { message, delay } => {
            context.report(
                lb,
                Warning,
                "FailedCreateLoadBalancer",
                format!("msg: {message}"),
            );
            let failed = unmet(
                lb,
                condition_types::CREATED,
                reasons::OPERATION_FAILED,
                &message,
            );
            write(context, lb, with(lb, failed), Progress::Retry(delay)).await
        }
        Outcome::Error(error) => {
            let message = in_full(&error);
            context.report(lb, Warning, "InvalidCreateLoadBalancer", message.clone());
            let failed = unmet(
                lb,
                condition_types::CREATED,
                reasons::WEBHOOK_ERROR,
                &message,
            );
            write(context, lb, with(lb, failed), Progress::Retry(None)).await
        }
    }
}

async fn ensure(
    context: &Context,
    view: &View,
    mut request: EnsureLoadBalancerRequest,
) -> Progress {
    let (lb, Lookup::Found(driver)) = (&*view.lb, &view.driver) else {
        return Progress::Settled;
    };
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<EnsureLoadBalancer>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(_) => {
            context.report(
                lb,
                Normal,
                "SuccEnsureLoadBalancer",
                "Successfully ensured load balancer",
            );
            let synced = Condition::met(condition_types::ATTRIBUTES_SYNCED, lb.metadata.generation);
            let status = LoadBalancerStatus {
                last_synced_attributes: Some(request.attributes.into()),
                ..with(lb, synced)
            };
            write(context, lb, status, Progress::Again).await
        }
        Outcome::Running { message, delay } => {
            context.report(
                lb,
                Normal,
                "RunningEnsureLoadBalancer",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { message, delay } => {
            context.report(
                lb,
                Warning,
                "FailedEnsureLoadBalancer",
                format!("msg: {message}"),
            );
            let failed = unmet(
                lb,
                condition_types::ATTRIBUTES_SYNCED,
                reasons::OPERATION_FAILED,
                &message,
            );
            write(context, lb, with(lb, failed), Progress::Retry(delay)).await
        }
        Outcome::Error(error) => {
            let message = in_full(&error);
            context.report(lb, Warning, "InvalidEnsureLoadBalancer", message.clone());
            let failed = unmet(
                lb,
                condition_types::ATTRIBUTES_SYNCED,
                reasons::WEBHOOK_ERROR,
                &message,
            );
            write(context, lb, with(lb, failed), Progress::Retry(None)).await
        }
    }
}

/// Only a finished creation tells what there is to delete. One that fails has left nothing that
/// the controller could name.
async fn finish_creating(
    context: &Context,
    view: &View,
    mut request: CreateLoadBalancerRequest,
) -> Progress {
    let (lb, Lookup::Found(driver)) = (&*view.lb, &view.driver) else {
        return Progress::Settled;
    };
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<CreateLoadBalancer>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(response) => {
            let status = created(lb, &request, response.lb_info.into());
            write(context, lb, status, Progress::Again).await
        }
        Outcome::Running { message, delay } => {
            context.report(
                lb,
                Normal,
                "RunningCreateLoadBalancer",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { .. } => {
            delete(context, view, delete_request(lb, &StringMap::default())).await
        }
        Outcome::Error(error) => {
            context.report(lb, Warning, "InvalidCreateLoadBalancer", in_full(&error));
            Progress::Retry(None)
        }
    }
}

async fn delete(
    context: &Context,
    view: &View,
    mut request: DeleteLoadBalancerRequest,
) -> Progress {
    let (lb, Lookup::Found(driver)) = (&*view.lb, &view.driver) else {
        return Progress::Settled;
    };
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<DeleteLoadBalancer>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(_) => let_go(context, lb).await,
        Outcome::Running { message, delay } => {
            context.report(
                lb,
                Normal,
                "RunningDeleteLoadBalancer",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { message, delay } => {
            context.report(
                lb,
                Warning,
                "FailedDeleteLoadBalancer",
                format!("msg: {message}"),
            );
            Progress::Retry(delay)
        }
        Outcome::Error(error) => {
            context.report(lb, Warning, "InvalidDeleteLoadBalancer", in_full(&error));
            Progress::Retry(None)
        }
    }
}

async fn let_go(context: &Context, lb: &LoadBalancer) -> Progress {
    let mut finalizers = lb.metadata.finalizers.clone().unwrap_or_default();
    finalizers.retain(|finalizer| finalizer != FINALIZER_LOAD_BALANCER);
    match context.cluster.finalizers(lb, &finalizers).await {
        Ok(gone) => {
            context.forget(lb.metadata.uid.as_deref());
            context.written(gone, Index::load_balancer);
            Progress::Settled
        }
        Err(error) => after_failed_write(&error),
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

/// The condition that tells of what is to be done next.
fn open_condition(lb: &LoadBalancer) -> &'static str {
    if status_of(lb).conditions.is_true(condition_types::CREATED) {
        condition_types::ATTRIBUTES_SYNCED
    } else {
        condition_types::CREATED
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

/// Writes a status, unless it is there already, and goes on as `then` says.
async fn write(
    context: &Context,
    lb: &LoadBalancer,
    status: LoadBalancerStatus,
    then: Progress,
) -> Progress {
    if lb.status.as_ref() == Some(&status) {
        return then;
    }
    match context
        .cluster
        .status(lb, lb.status.as_ref(), &status)
        .await
    {
        Ok(lb) => {
            context.written(lb, Index::load_balancer);
            then
        }
        Err(error) => after_failed_write(&error),
    }
}
