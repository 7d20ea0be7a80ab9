use super::decide::{CandidateNode, Candidates, GroupCounts, GroupState, decide, decide_status};
use super::load_balancer_use::LoadBalancerUse;
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
use crate::index::{Index, NodeView, ServiceView};
use crate::key::{ObjectKey, Owner, Unit};
use crate::names;
use crate::object::ObjectExt;
use crate::reconcile::{Action, Error};
use crate::waiting::{Wait, ready};
use std::collections::{BTreeMap, BTreeSet};

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
            Ok(action)
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

fn observe(context: &Context, owner: &Owner, units: &BTreeSet<Unit>) -> Option<GroupState> {
    let index = context.index();
    let group = index.find::<BackendGroup>(owner.key())?;
    let candidates = match (&group.spec.pods, &group.spec.service) {
        (Some(_), _) => {
            let pods = index.pods_of(owner, units);
            let verdict = context.verdicts.current(owner, &pods);
            Candidates::Pods(pods, verdict)
        }
        (None, Some(service)) => {
            let service = ObjectKey::new(owner.key().namespace.clone(), service.name.clone());
            let nodes = units.iter().filter_map(|name| {
                Some(CandidateNode {
                    has_pods: index.selections.has_available_on(owner, name),
                    node: index.find::<NodeView>(&ObjectKey::new("", Unit::clone(name)))?,
                })
            });
            Candidates::Nodes {
                service: index.find::<ServiceView>(&service),
                nodes: nodes.collect(),
            }
        }
        (None, None) => {
            let addresses = group.spec.static_addresses.iter();
            let addresses = addresses.filter(|addr| units.contains(addr.as_str()));
            Candidates::Addresses(addresses.cloned().collect())
        }
    };
    Some(GroupState {
        load_balancers: load_balancers(&index, owner, &group),
        candidates,
        records: index.records_of(owner, units),
        group,
    })
}

fn load_balancers(
    index: &Index,
    owner: &Owner,
    group: &BackendGroup,
) -> BTreeMap<String, LoadBalancerUse> {
    let namespace = &owner.key().namespace;
    let names = group.spec.load_balancer_names();
    let uses = names.map(|name| {
        let lb = index.get(&names::resolve(namespace, name));
        (name.to_owned(), LoadBalancerUse::of(&lb, namespace))
    });
    uses.collect()
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
    };
    let units = |at_least| index.records.tallies.units(owner, at_least);
    let mut status = decide_status(group, &counts, units);
    let service = group.spec.service.as_ref().and_then(|service| {
        let service = ObjectKey::new(owner.key().namespace.clone(), service.name.clone());
        index.find::<ServiceView>(&service)
    });
    let view = GroupView {
        load_balancers: &load_balancers,
        service: service.as_deref(),
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
