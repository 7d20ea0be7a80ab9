//! Writing the entry of one load balancer in a Bind's status.
//!
//! The load balancers of a Bind are reconciled concurrently, and their results are in one list.
//! Each writes only its own entry, into the newest state and one after the other: none overwrites
//! another's entry, and no webhook's result is lost to a conflict. Each write carries the counts;
//! they are written alone only where they changed without one.

use crate::api::{Bind, BindStatus, Conditions, TargetLoadBalancerStatus, condition_types};
use crate::backends::counted;
use crate::cluster::WriteError;
use crate::index::{BindLoadBalancerKey, Owner, Request, RequestKey};
use crate::runtime::{Context, Error};

/// The number of times that a write is attempted with the newest state before the object is reconciled
/// again.
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
        let (status, _) = counted(context, &owner, &*current, status, None);
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

/// The reason of the Bind's own condition.
fn reason_of(status: Option<&BindStatus>) -> Option<&str> {
    let ready = status?.conditions.find(condition_types::READY)?;
    Some(&ready.reason)
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
