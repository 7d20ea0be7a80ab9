//! Carrying out a group's plan.

use super::decide::{Candidate, Candidates, Counts, View, decide, decide_status};
use super::expected::usable;
use super::load_balancer_state::LoadBalancerState;
use crate::api::BackendGroup;
use crate::backends::{Taken, carry_out, wake_judge};
use crate::cluster::EventType::Normal;
use crate::context::Context;
use crate::index::Index;
use crate::key::{ObjectKey, Owner};
use crate::names;
use crate::work::Progress;
use std::collections::{BTreeMap, BTreeSet};

/// Looks at a batch of a group's backends and does what its plan says, then goes on with the next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    let owner = Owner::Group(key.clone());
    if let Err(progress) = context.make_sure(key, Index::group).await {
        return progress;
    }
    let taken = Taken::next(context, &owner);
    let Some(view) = look(context, &owner, taken.units()) else {
        taken.done_but(BTreeSet::new());
        return Progress::Settled;
    };
    let is_full = taken.is_full();
    let outcome = carry_out(context, decide(&view)).await;
    taken.done_but(outcome.failed);
    wake_judge(context, &owner, view.group.spec.deregister_policy);
    if let Some(progress) = outcome.progress {
        // The counts are true all the same.
        return write_status(context, &owner).await.and(progress);
    }
    if is_full {
        return Progress::Again;
    }
    write_status(context, &owner).await
}

fn look(context: &Context, owner: &Owner, units: &BTreeSet<String>) -> Option<View> {
    let index = context.index();
    let group = index.get_group(owner.key()).found()?;
    let candidates = match (&group.spec.pods, &group.spec.service) {
        (Some(_), _) => {
            let pods = index.pods_of(owner, units);
            let answer = context.answer_on(owner, pods.iter().map(|pod| &**pod));
            let judgement = answer.map(|answer| answer.judgement());
            Candidates::Pods(pods, judgement.unwrap_or_default())
        }
        (None, Some(service)) => {
            let key = ObjectKey::new(owner.key().namespace.clone(), service.name.clone());
            let nodes = units.iter().filter_map(|name| index.get_node(name));
            Candidates::Nodes {
                service: index.get_service(&key),
                nodes: nodes
                    .map(|node| Candidate {
                        has_pods: index.has_available_on(owner, &node.key.name),
                        node,
                    })
                    .collect(),
            }
        }
        (None, None) => {
            let addresses = group.spec.static_addresses.iter();
            let known = addresses.filter(|addr| units.contains(*addr));
            Candidates::Addresses(known.cloned().collect())
        }
    };
    Some(View {
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
) -> BTreeMap<String, LoadBalancerState> {
    let namespace = &owner.key().namespace;
    let names = group.spec.load_balancer_names();
    names
        .map(|name| {
            let lb = index.get_load_balancer(&names::resolve(namespace, name));
            (name.to_owned(), LoadBalancerState::of(&lb, namespace))
        })
        .collect()
}

/// Writes the counts as they are after everything was done, at most once in an interval.
async fn write_status(context: &Context, owner: &Owner) -> Progress {
    let key = owner.key();
    let (group, status) = {
        let index = context.index();
        let Some(group) = index.get_group(key).found() else {
            return Progress::Settled;
        };
        let counts = Counts {
            load_balancers: usable(&load_balancers(&index, owner, &group)).len(),
            pods: index.count_pods_of(owner),
            records: index.staying_records(owner),
            registered: index.registered_records(owner),
        };
        let units = |at_least| index.registered_units(owner, at_least);
        let status = decide_status(&group, &counts, units);
        (group, status)
    };
    if group.status.as_ref() == Some(&status) {
        return Progress::Settled;
    }
    if let Some(wait) = context.status_wait(key) {
        return Progress::After(wait);
    }
    context.status_is_written(key.clone());
    let old = group.status.as_ref();
    let written = context.cluster.status(&*group, old, &status).await;
    if let Ok(written) = &written {
        report_synced(context, &group, written);
    }
    context.after_write(&*group, written, Index::group, Progress::Settled)
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
