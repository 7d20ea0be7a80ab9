//! Writing a Bind's status: the entry of one load balancer, or the counts.
//!
//! The load balancers of a Bind are reconciled concurrently, and their results are in one list.
//! Each writes only its own entry, into the newest state and one after the other: none overwrites
//! another's entry, and no webhook's result is lost to a conflict. Each write carries the counts;
//! they are written alone only where they changed without one.

use super::counts::{count_usable, with_counts};
use super::waiting::{BindView, waiting};
use crate::api::{
    BackendOwner, Bind, BindStatus, Conditions, ObjectExt, TargetLoadBalancerStatus,
    condition_types,
};
use crate::backends::{OwnerCounts, OwnerView, SelectedService, WaitReport, view};
use crate::cluster::{Regarding, Wait, WriteError, ready};
use crate::index::{BindLoadBalancerKey, Owner, Request, RequestKey};
use crate::runtime::{Action, Context, Error};

/// How often a write is repeated with the newest state before the object is reconciled again.
const ATTEMPTS: usize = 5;

pub(super) fn entry<'a>(bind: &'a Bind, name: &str) -> Option<&'a TargetLoadBalancerStatus> {
    let status = bind.status.as_ref()?;
    let mut entries = status.load_balancer_statuses.iter();
    entries.find(|entry| entry.name == name)
}

/// Writes a load balancer's entry, or removes it.
pub(super) async fn write(
    context: &Context,
    bind: &Bind,
    key: &BindLoadBalancerKey,
    new: Option<&TargetLoadBalancerStatus>,
) -> Result<(), Error> {
    let lock = context.status_locks.of(&key.bind);
    let _locked = lock.lock().await;
    let decided_on = entry(bind, &key.name);
    let mut attempts = 1;
    loop {
        let current = context.index().find::<Bind>(&key.bind);
        let current = current.filter(|current| current.metadata.uid == bind.metadata.uid);
        let Some(current) = current else {
            return Err(WriteError::Stale.into());
        };
        // In a dry run, decisions are based on what was never stored.
        if entry(&current, &key.name) != decided_on && !context.options.dry_run {
            // An earlier write succeeded that seemed to have failed.
            return Err(WriteError::Stale.into());
        }
        let owner = Owner::Bind(key.bind.clone());
        let status = with_entry(&current, &key.name, new);
        let (status, _) = counted(context, &owner, &current, status, None);
        context.note_status_write(owner.request_key());
        match context.write_status(&*current, &status).await {
            Err(Error::Write(WriteError::Stale)) if attempts < ATTEMPTS => attempts += 1,
            Ok(()) => {
                if reason_of(current.status.as_ref()) != reason_of(Some(&status)) {
                    // The Bind reports by an event what it waits for now.
                    let bind = RequestKey::Bind(key.bind.clone());
                    context.queue.add([Request::batched(bind)]);
                }
                return Ok(());
            }
            result => return result,
        }
        context.confirm::<Bind>(&key.bind).await?;
    }
}

/// Writes the counts and the condition if they changed, at most once in
/// [`Options::status_interval`](crate::process::options::Options), and reports what the Bind waits for. Before the
/// first entry there is nothing to write: that one carries them.
pub(super) async fn write_counts(
    context: &Context,
    owner: &Owner,
    error: Option<&Error>,
) -> Result<Action, Error> {
    let lock = context.status_locks.of(owner.key());
    let _locked = lock.lock().await;
    let bind = context.index().find::<Bind>(owner.key());
    let Some((bind, old)) = bind.and_then(|bind| Some((bind.clone(), bind.status.clone()?))) else {
        return Ok(Action::AwaitChange);
    };
    let (new, wait) = counted(context, owner, &bind, old.clone(), error);
    let (key, regarding) = (owner.request_key(), Regarding::object(&*bind));
    let report = WaitReport::new(context, key.clone(), regarding, wait);
    if new != old {
        let are_counts_equal = BindStatus {
            conditions: old.conditions.clone(),
            ..new.clone()
        } == old;
        if let Some(delay) = report.write_delay(are_counts_equal) {
            return Ok(Action::RequeueAfter(delay));
        }
        context.note_status_write(key);
        context.write_status(&*bind, &new).await?;
    }
    Ok(report.record())
}

/// The reason of the Bind's own condition.
fn reason_of(status: Option<&BindStatus>) -> Option<&str> {
    let ready = status?.conditions.find(condition_types::READY)?;
    Some(&ready.reason)
}

/// The status with current counts, and what the Bind waits for.
fn counted(
    context: &Context,
    owner: &Owner,
    bind: &Bind,
    status: BindStatus,
    error: Option<&Error>,
) -> (BindStatus, Option<Wait>) {
    let index = context.index();
    let counts = OwnerCounts::of(&index, owner, count_usable(bind, &status));
    let registered_units = |at_least| index.records.tallies.units(owner, at_least);
    let mut status = with_counts(bind, status, &counts, registered_units);
    if bind.is_deleting() {
        // Its load balancers report what they wait for.
        return (status, None);
    }
    let service = bind.service();
    let service = service.map(|service| SelectedService::of(&index, owner, service));
    let view = BindView {
        service: &service.unwrap_or_default(),
        counts: &counts,
        owner: OwnerView {
            has_unready_pods: bind.pods().is_some() && index.awaits_pods(owner),
            ..view(&index, owner, error)
        },
    };
    let wait = waiting(bind, &status, &view);
    let condition = ready(wait.as_ref(), bind.metadata.generation);
    status.conditions = status.conditions.with(condition, context.now());
    (status, wait)
}

/// The status with this entry. Entries are in the order in which they were added.
fn with_entry(bind: &Bind, name: &str, new: Option<&TargetLoadBalancerStatus>) -> BindStatus {
    let mut status = bind.status.clone().unwrap_or_default();
    let entries = &mut status.load_balancer_statuses;
    match (entries.iter_mut().find(|entry| entry.name == name), new) {
        (Some(entry), Some(new)) => entry.clone_from(new),
        (None, Some(new)) => entries.push(new.clone()),
        (_, None) => entries.retain(|entry| entry.name != name),
    }
    status
}
