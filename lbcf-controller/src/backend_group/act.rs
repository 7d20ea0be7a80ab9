//! Carrying out a group's plan.

use super::decide::{Plan, View, decide, decide_status, is_supported};
use super::load_balancer_state::LoadBalancerState;
use crate::api::{
    BackendGroup, BackendRecord, BackendRecordStatus, Condition, Conditions, condition_types,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::cluster::WriteError;
use crate::context::{Context, after_failed_write};
use crate::index::Index;
use crate::key::ObjectKey;
use crate::names;
use crate::work::Progress;
use futures::StreamExt;
use futures::stream;
use jiff::Timestamp;
use std::sync::Arc;

/// How many records of one group are written at a time.
const WRITES: usize = 16;
/// How many records are changed or made before the group is looked at again: what is to be taken
/// away meanwhile must not wait until a large group is built up.
const BATCH: usize = 256;

/// Looks at a group and does what its plan says: first what takes away, then what changes, then
/// what adds (b113).
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    let Some(view) = look(context, key) else {
        return Progress::Settled;
    };
    if !is_supported(&view.group) {
        let message = "spec.service: services as backends are not supported yet";
        context.report(&*view.group, Warning, "NotSupported", message);
    }
    let mut plan = decide(&view);
    let is_whole = plan.update.len() <= BATCH && plan.create.len() <= BATCH;
    plan.update.truncate(BATCH);
    plan.create.truncate(BATCH);
    match carry_out(context, plan).await {
        Ok(()) if is_whole => write_status(context, key).await,
        Ok(()) => Progress::Again,
        Err(progress) => {
            // The counts are true all the same.
            write_status(context, key).await;
            progress
        }
    }
}

fn look(context: &Context, key: &ObjectKey) -> Option<View> {
    let index = context.index();
    let group = index.get_group(key).found()?;
    let load_balancers = group
        .spec
        .load_balancer_names()
        .map(|name| {
            let lb = index.get_load_balancer(&names::resolve(&key.namespace, name));
            (name.to_owned(), LoadBalancerState::of(&lb, &key.namespace))
        })
        .collect();
    Some(View {
        load_balancers,
        pods: index.pods_of_group(key),
        records: index.records_of_group(key),
        group,
    })
}

/// Does everything that can be done; one write that fails keeps no other from happening.
async fn carry_out(context: &Context, plan: Plan) -> Result<(), Progress> {
    let mut worst = Ok(());
    let mut note = |result: Result<(), WriteError>| {
        if let Err(error) = result {
            let progress = after_failed_write(&error);
            if !matches!(worst, Err(Progress::Retry(_))) {
                worst = Err(progress);
            }
        }
    };
    let mut deletions = stream::iter(plan.delete)
        .map(|record| delete(context, record))
        .buffer_unordered(WRITES);
    while let Some(result) = deletions.next().await {
        note(result);
    }
    let mut updates = stream::iter(plan.update)
        .map(|(old, new)| update(context, old, new))
        .buffer_unordered(WRITES);
    while let Some(result) = updates.next().await {
        note(result);
    }
    let mut creations = stream::iter(plan.create)
        .map(|record| create(context, record))
        .buffer_unordered(WRITES);
    while let Some(result) = creations.next().await {
        note(result);
    }
    worst
}

async fn delete(context: &Context, record: Arc<BackendRecord>) -> Result<(), WriteError> {
    match context.cluster.delete(&*record).await {
        Ok(Some(going)) => {
            context.written(going, Index::record);
            Ok(())
        }
        Ok(None) => Ok(()), // The watch tells that it is gone.
        Err(error) => Err(error),
    }
}

async fn update(
    context: &Context,
    old: Arc<BackendRecord>,
    new: BackendRecord,
) -> Result<(), WriteError> {
    // What the original controller registered carries no generation. It gets one before its spec
    // changes, as afterwards nobody could tell that the change was never ensured (d27).
    let adopted = match adopted(&old) {
        Some(status) => {
            let adopted = context
                .cluster
                .status(&*old, old.status.as_ref(), &status)
                .await?;
            context.written(adopted.clone(), Index::record);
            Some(adopted)
        }
        None => None,
    };
    let current = adopted.as_ref().unwrap_or(&old);
    let updated = context.cluster.spec(current, &old.spec, &new.spec).await?;
    context.written(updated, Index::record);
    Ok(())
}

fn adopted(record: &BackendRecord) -> Option<BackendRecordStatus> {
    let status = record.status.clone()?;
    let registered = status.conditions.find(condition_types::REGISTERED)?;
    if registered.observed_generation.is_some() {
        return None;
    }
    let adopted = Condition {
        observed_generation: record.metadata.generation,
        ..registered.clone()
    };
    let conditions = status.conditions.with(adopted, Timestamp::now());
    Some(BackendRecordStatus {
        conditions,
        ..status
    })
}

async fn create(context: &Context, record: BackendRecord) -> Result<(), WriteError> {
    let created = context.cluster.create(&record).await?;
    context.written(created, Index::record);
    Ok(())
}

/// Writes the counts as they are after everything was done, at most once in an interval.
async fn write_status(context: &Context, key: &ObjectKey) -> Progress {
    let Some(view) = look(context, key) else {
        return Progress::Settled;
    };
    let (group, status) = (&*view.group, decide_status(&view));
    if group.status.as_ref() == Some(&status) {
        return Progress::Settled;
    }
    if let Some(wait) = context.status_wait(key) {
        return Progress::After(wait);
    }
    context.status_is_written(key.clone());
    match context
        .cluster
        .status(group, group.status.as_ref(), &status)
        .await
    {
        Ok(written) => {
            report_synced(context, group, &written);
            context.written(written, Index::group);
            Progress::Settled
        }
        Err(error) => after_failed_write(&error),
    }
}

/// Tells when all are registered that were not before (b115, without repeating it: u37).
fn report_synced(context: &Context, before: &BackendGroup, after: &BackendGroup) {
    let is_done = |group: &BackendGroup| {
        group.status.as_ref().is_some_and(|status| {
            status.backends > 0 && status.backends == status.registered_backends
        })
    };
    if is_done(after) && !is_done(before) {
        let count = after.status.as_ref().map_or(0, |status| status.backends);
        let message = format!("all {count} backends are registered");
        context
            .events
            .report(after, Normal, "SuccSyncedBackendGroup", message);
    }
}
