//! Writing a Bind's status: the entry of one load balancer, or the counts.
//!
//! The load balancers of a Bind are reconciled concurrently, and their results are in one list.
//! Each writes only its own entry, into the newest state and one after the other: none overwrites
//! another's entry, and no webhook's result is lost to a conflict. Each write carries the counts;
//! they are written alone only where they changed without one.

use super::counts::with_counts;
use crate::api::{Bind, BindStatus, TargetLoadBalancerStatus};
use crate::cluster::WriteError;
use crate::context::Context;
use crate::key::{BindLoadBalancerKey, Owner};
use crate::reconcile::{Action, Error};

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
        let status = counted(
            context,
            &owner,
            &current,
            with_entry(&current, &key.name, new),
        );
        context.note_status_write(owner);
        match context.write_status(&*current, &status).await {
            Err(Error::Write(WriteError::Stale)) if attempts < ATTEMPTS => attempts += 1,
            result => return result,
        }
        context.confirm::<Bind>(&key.bind).await?;
    }
}

/// Writes the counts if they changed, at most once in
/// [`Options::status_interval`](crate::Options). Before the first entry there is nothing to write:
/// that one carries them.
pub(super) async fn write_counts(context: &Context, owner: &Owner) -> Result<Action, Error> {
    let lock = context.status_locks.of(owner.key());
    let _locked = lock.lock().await;
    let bind = context.index().find::<Bind>(owner.key());
    let Some((bind, old)) = bind.and_then(|bind| Some((bind.clone(), bind.status.clone()?))) else {
        return Ok(Action::AwaitChange);
    };
    let new = counted(context, owner, &bind, old.clone());
    if new == old {
        return Ok(Action::AwaitChange);
    }
    if let Some(wait) = context.status_wait(owner) {
        return Ok(Action::RequeueAfter(wait));
    }
    context.note_status_write(owner.clone());
    context.write_status(&*bind, &new).await?;
    Ok(Action::AwaitChange)
}

fn counted(context: &Context, owner: &Owner, bind: &Bind, status: BindStatus) -> BindStatus {
    let index = context.index();
    let registered = |at_least| index.records.tallies.units(owner, at_least);
    with_counts(bind, status, index.selections.count(owner), registered)
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
