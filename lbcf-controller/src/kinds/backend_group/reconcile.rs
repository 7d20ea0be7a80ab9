use super::decide::{Candidates, decide, decide_status};
use super::observe::{load_balancers, observe};
use super::records::usable;
use super::waiting::{GroupView, waiting};
use crate::api::{
    BackendGroup, BackendGroupStatus, BackendOwner, Conditions, ObjectExt, ObjectKey,
};
use crate::backends::{
    OwnerCounts, OwnerView, PlanOutcome, SelectedService, UnitBatch, WaitReport, count_endpoints,
    enqueue_verdict, execute, finish, may_adopt, report_refusal, view,
};
use crate::cluster::EventType::Normal;
use crate::cluster::{Regarding, Wait, ready};
use crate::index::Owner;
use crate::runtime::{Action, Context, Error};

/// Reconciles a batch of a group's backends, or, after the last one, its status.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let owner = Owner::Group(key.clone());
    context.confirm::<BackendGroup>(key).await?;
    let batch = UnitBatch::take(context, &owner);
    let Some(state) = observe(context, &owner, &batch.units) else {
        batch.done(&mut PlanOutcome::default());
        return Ok(Action::AwaitChange);
    };
    let is_full = batch.is_full();
    if let Candidates::Service(candidates) = &state.candidates {
        count_endpoints(context, &owner, &*state.group, candidates, &batch.units);
    }
    let plan = decide(&state);
    if !may_adopt(context, &*state.group, &plan).await? {
        return Ok(Action::RequeueNow);
    }
    let regarding = Regarding::object(&*state.group);
    let mut outcome = execute(context, &regarding, plan).await;
    batch.done(&mut outcome);
    enqueue_verdict(context, &owner, state.group.spec.deregister_policy);
    match outcome.error {
        None if is_full => Ok(Action::RequeueNow),
        None => {
            let action = write_status(context, &owner, None).await?;
            finish(context, &owner, action)
        }
        // The counts are correct even if some records were not written.
        Some(error) => {
            report_refusal(context, &regarding, &error);
            match write_status(context, &owner, Some(&error)).await {
                Err(failure) if error.action().is_some() => Err(failure),
                _ => Err(error),
            }
        }
    }
}

/// Writes the counts and the condition, at most once in
/// [`Options::status_interval`](crate::process::options::Options), and reports what the group waits for.
async fn write_status(
    context: &Context,
    owner: &Owner,
    error: Option<&Error>,
) -> Result<Action, Error> {
    let group = context.index().find::<BackendGroup>(owner.key());
    let Some(group) = group.filter(|group| !group.is_deleting()) else {
        return Ok(Action::AwaitChange);
    };
    let (status, wait) = decide_whole_status(context, owner, &group, error);
    let regarding = Regarding::object(&*group);
    let key = owner.request_key();
    let report = WaitReport::new(context, key.clone(), regarding, wait);
    let old = group.status.clone().unwrap_or_default();
    if group.status.as_ref() != Some(&status) {
        let are_counts_equal = BackendGroupStatus {
            conditions: old.conditions,
            ..status.clone()
        } == group.status.clone().unwrap_or_default();
        if let Some(delay) = report.write_delay(are_counts_equal) {
            return Ok(Action::RequeueAfter(delay));
        }
        context.note_status_write(key);
        context.write_status(&*group, &status).await?;
    }
    // The event is recorded when this state is reached, and not repeated (b115, u37).
    let is_complete = |backends, registered| backends > 0 && backends == registered;
    let was_complete = is_complete(old.backends, old.registered_backends);
    if is_complete(status.backends, status.registered_backends) && !was_complete {
        let message = format!("all {} backends are registered", status.backends);
        let regarding = Regarding::object(&*group);
        let recorder = &context.recorder;
        recorder.record(&regarding, Normal, "SuccSyncedBackendGroup", &message);
    }
    Ok(report.record())
}

fn decide_whole_status(
    context: &Context,
    owner: &Owner,
    group: &BackendGroup,
    error: Option<&Error>,
) -> (BackendGroupStatus, Option<Wait>) {
    let index = &context.index();
    let load_balancers = load_balancers(index, owner, group);
    let counts = OwnerCounts::of(index, owner, usable(&load_balancers).count());
    let units = |at_least| index.records.tallies.units(owner, at_least);
    let mut status = decide_status(group, &counts, units);
    let service = group.service();
    let service = service.map(|service| SelectedService::of(index, owner, service));
    let view = GroupView {
        load_balancers: &load_balancers,
        service: &service.unwrap_or_default(),
        counts: &counts,
        owner: OwnerView {
            has_unready_pods: group.pods().is_some() && index.awaits_pods(owner),
            ..view(index, owner, error)
        },
    };
    let wait = waiting(group, &status, &view);
    let condition = ready(wait.as_ref(), group.metadata.generation);
    status.conditions = status.conditions.with(condition, context.now());
    (status, wait)
}
