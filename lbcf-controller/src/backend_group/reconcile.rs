use super::decide::{Candidates, GroupCounts, GroupState, decide, decide_status};
use super::endpoints::tallies;
use super::observe::{find_service, load_balancers, observe, slices_of};
use super::records::usable;
use super::waiting::{GroupView, waiting};
use crate::api::{BackendGroup, BackendGroupStatus, Conditions};
use crate::backends::{
    OwnerView, PlanOutcome, UnitBatch, WaitReport, enqueue_verdict, execute, may_adopt,
    release_held, report_refusal, view,
};
use crate::cluster::EventType::Normal;
use crate::cluster::Regarding;
use crate::context::Context;
use crate::index::endpoints_of;
use crate::key::{ObjectKey, Owner, Unit};
use crate::object::ObjectExt;
use crate::reconcile::{Action, Error};
use crate::waiting::{Wait, ready};
use std::collections::BTreeSet;

/// Reconciles a batch of a group's backends, or, after the last one, its status.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let owner = Owner::Group(key.clone());
    context.confirm::<BackendGroup>(key).await?;
    let grace_period = context.options.endpoint_grace_period;
    let (over, _) = context.absences.over(&owner, grace_period);
    context.index().mark_units(&owner, &over);
    let batch = UnitBatch::take(context, &owner);
    let Some(state) = observe(context, &owner, &batch.units) else {
        batch.done(&mut PlanOutcome::default());
        return Ok(Action::AwaitChange);
    };
    let is_full = batch.is_full();
    count_endpoints(context, &owner, &state, &batch.units);
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
            release_held(context, &owner)?;
            let (_, next) = context.absences.over(&owner, grace_period);
            Ok(next.map_or(action, |next| action.at_most(next)))
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

/// Stores what the endpoints at these addresses count in the status.
fn count_endpoints(context: &Context, owner: &Owner, state: &GroupState, units: &BTreeSet<Unit>) {
    let backends = match (&state.candidates, endpoints_of(&state.group)) {
        (Candidates::Endpoints(candidates), Some(selection)) => {
            candidates.backends(selection, state.group.spec.deregister_policy)
        }
        _ => return,
    };
    let tallies = tallies(&backends);
    let mut index = context.index();
    for unit in units {
        let tally = tallies.get(unit).copied().unwrap_or_default();
        index.unit_tallies.set(owner, unit, tally);
    }
}

/// Writes the counts and the condition, at most once in
/// [`Options::status_interval`](crate::Options), and reports what the group waits for.
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
    let counts = GroupCounts {
        load_balancers: usable(&load_balancers).count(),
        pods: index.selections.count(owner),
        records: index.records.count_kept(owner),
        registered: index.records.tallies.records(owner),
        endpoints: index.unit_tallies.of(owner),
    };
    let units = |at_least| index.records.tallies.units(owner, at_least);
    let mut status = decide_status(group, &counts, units);
    let service = group.spec.service.as_ref();
    let service = service.and_then(|service| find_service(index, owner, service));
    let slices = endpoints_of(group).map(|service| slices_of(index, owner, service));
    let view = GroupView {
        load_balancers: &load_balancers,
        service: service.as_deref(),
        slices: slices.unwrap_or_default(),
        counts: &counts,
        owner: OwnerView {
            has_unready_pods: group.spec.pods.is_some() && index.awaits_pods(owner),
            ..view(index, owner, error)
        },
    };
    let wait = waiting(group, &status, &view);
    let condition = ready(wait.as_ref(), group.metadata.generation);
    status.conditions = status.conditions.with(condition, context.now());
    (status, wait)
}
