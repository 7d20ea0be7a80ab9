//! Writing one load balancer's part of a Bind's status.
//!
//! The load balancers of a Bind are worked on side by side, and their results stand in one list.
//! Each writes only its own entry, on top of the newest state, one after the other: none overwrites
//! another's, and no result of a webhook is lost to a conflict.

use crate::api::{Bind, BindStatus, TargetLoadBalancerStatus};
use crate::cluster::WriteError;
use crate::context::Context;
use crate::index::Index;
use crate::key::BindLoadBalancerKey;
use crate::work::Progress;

/// How often a write is tried on the newest state before the whole step is.
const TRIES: usize = 5;

/// The entry of a load balancer.
pub(super) fn entry<'a>(bind: &'a Bind, name: &str) -> Option<&'a TargetLoadBalancerStatus> {
    let entries = bind
        .status
        .iter()
        .flat_map(|status| &status.load_balancer_statuses);
    entries.into_iter().find(|entry| entry.name == name)
}

/// Writes a load balancer's entry, or takes it out, and goes on as `then` says.
pub(super) async fn write(
    context: &Context,
    bind: &Bind,
    key: &BindLoadBalancerKey,
    new: Option<&TargetLoadBalancerStatus>,
    then: Progress,
) -> Progress {
    let lock = context.status_locks.of(&key.bind);
    let _held = lock.lock().await;
    let decided_on = entry(bind, &key.name);
    let mut tries = 1;
    loop {
        let current = context.index().get_bind(&key.bind).found();
        let Some(current) = current.filter(|current| current.metadata.uid == bind.metadata.uid)
        else {
            return Progress::Settled;
        };
        // In a dry run it was decided on what was never stored.
        if entry(&current, &key.name) != decided_on && !context.options.dry_run {
            // A write of ours was done that seemed to have failed: what was decided is out of date.
            return Progress::Again;
        }
        let status = with(&current, &key.name, new);
        if current.status.as_ref() == Some(&status) {
            return then;
        }
        let old = current.status.as_ref();
        let written = context.cluster.status(&*current, old, &status).await;
        let is_stale = matches!(written, Err(WriteError::Stale));
        let progress = context.after_write(&*current, written, Index::bind, then);
        if !is_stale || tries == TRIES {
            return progress;
        }
        tries += 1;
        if let Err(progress) = context.make_sure(&key.bind, Index::bind).await {
            return progress;
        }
    }
}

/// The status with this entry; entries stand in the order in which they came.
fn with(bind: &Bind, name: &str, new: Option<&TargetLoadBalancerStatus>) -> BindStatus {
    let mut status = bind.status.clone().unwrap_or_default();
    let entries = &mut status.load_balancer_statuses;
    match (entries.iter_mut().find(|entry| entry.name == name), new) {
        (Some(entry), Some(new)) => entry.clone_from(new),
        (None, Some(new)) => entries.push(new.clone()),
        (_, None) => entries.retain(|entry| entry.name != name),
    }
    status
}
