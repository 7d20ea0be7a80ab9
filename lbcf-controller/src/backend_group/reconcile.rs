use super::decide::{CandidateNode, Candidates, GroupCounts, GroupState, decide, decide_status};
use super::load_balancer_use::LoadBalancerUse;
use super::records::usable;
use crate::api::BackendGroup;
use crate::backends::{PlanOutcome, UnitBatch, enqueue_verdict, execute, may_adopt, release_held};
use crate::cluster::EventType::Normal;
use crate::cluster::Regarding;
use crate::context::Context;
use crate::index::{Index, NodeView, ServiceView};
use crate::key::{ObjectKey, Owner};
use crate::names;
use crate::reconcile::{Action, Error};
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
    let mut outcome = execute(context, &Regarding::object(&*state.group), plan).await;
    batch.done(&mut outcome);
    enqueue_verdict(context, &owner, state.group.spec.deregister_policy);
    match outcome.error {
        None if is_full => Ok(Action::RequeueNow),
        None => {
            let action = write_status(context, &owner).await?;
            release_held(context, &owner)?;
            Ok(action)
        }
        // The counts are correct even if some records were not written.
        Some(error) => match write_status(context, &owner).await {
            Err(failure) if error.action().is_some() => Err(failure),
            _ => Err(error),
        },
    }
}

fn observe(context: &Context, owner: &Owner, units: &BTreeSet<String>) -> Option<GroupState> {
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
                    node: index.find::<NodeView>(&ObjectKey::new("", name.clone()))?,
                })
            });
            Candidates::Nodes {
                service: index.find::<ServiceView>(&service),
                nodes: nodes.collect(),
            }
        }
        (None, None) => {
            let addresses = group.spec.static_addresses.iter();
            let addresses = addresses.filter(|addr| units.contains(*addr));
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

/// Writes the counts, at most once in [`Options::status_interval`](crate::Options).
async fn write_status(context: &Context, owner: &Owner) -> Result<Action, Error> {
    let key = owner.key();
    let (group, status) = {
        let index = context.index();
        let Some(group) = index.find::<BackendGroup>(key) else {
            return Ok(Action::AwaitChange);
        };
        let counts = GroupCounts {
            load_balancers: usable(&load_balancers(&index, owner, &group)).count(),
            pods: index.selections.count(owner),
            records: index.records.count_kept(owner),
            registered: index.records.tallies.records(owner),
        };
        let units = |at_least| index.records.tallies.units(owner, at_least);
        let status = decide_status(&group, &counts, units);
        (group, status)
    };
    if group.status.as_ref() == Some(&status) {
        return Ok(Action::AwaitChange);
    }
    if let Some(wait) = context.status_wait(owner) {
        return Ok(Action::RequeueAfter(wait));
    }
    context.note_status_write(owner.clone());
    context.write_status(&*group, &status).await?;
    // The event is recorded when this state is reached, and not repeated (b115, u37).
    let is_complete = |backends, registered| backends > 0 && backends == registered;
    let was_complete = group
        .status
        .as_ref()
        .is_some_and(|old| is_complete(old.backends, old.registered_backends));
    if is_complete(status.backends, status.registered_backends) && !was_complete {
        let message = format!("all {} backends are registered", status.backends);
        let regarding = Regarding::object(&*group);
        let recorder = &context.recorder;
        recorder.record(&regarding, Normal, "SuccSyncedBackendGroup", message);
    }
    Ok(Action::AwaitChange)
}
