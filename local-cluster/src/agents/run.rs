//! The loop that feeds an agent from the journal of everything, and what agents share.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::object::Object;
use crate::rules::may_go;
use crate::store::{Change, Follower, Resource, Stored, WriteError};
use crate::writer::Cluster;

/// How long an agent leaves a disk alone that did not take a write.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A state machine that reacts to changes.
pub(super) trait Agent: Send + 'static {
    /// Starts anew from everything that there is.
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>);
    /// Learns of a change.
    fn observe(&mut self, change: &Change);
    /// Does what is to be done now; says when it wants to be asked again.
    fn act(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant>;
}

/// Runs an agent until the cluster ends.
pub(super) async fn run(cluster: Arc<Cluster>, mut agent: impl Agent) {
    loop {
        let (objects, mut follower) = Follower::of_everything(&cluster.store);
        agent.reset(objects);
        loop {
            let failures = cluster.store.failures();
            let wake = agent.act(&cluster, Instant::now());
            if cluster.store.failures() != failures {
                // What it did may be lost: it does that again when the disk may have recovered.
                tokio::select! {
                    () = cluster.stop.cancelled() => return,
                    () = tokio::time::sleep(AFTER_FAILURE) => break,
                }
            }
            let sleep = async {
                match wake {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = cluster.stop.cancelled() => return,
                () = sleep => {}
                changes = follower.next() => match changes {
                    Ok(changes) => changes.iter().for_each(|change| agent.observe(change)),
                    // Too much happened at once: look at everything again.
                    Err(_) => break,
                },
            }
        }
    }
}

/// Changes an object in its stored form, past the rules that bind clients.
///
/// `change` says `None` when there is nothing to do (any more). With the last that held it, an
/// object that is being deleted goes.
pub(super) fn rewrite(
    cluster: &Cluster,
    resource: &Resource,
    (namespace, name): (&str, &str),
    change: impl Fn(&Object) -> Option<Object>,
) {
    while let Some(current) = cluster.store.get(resource, namespace, name) {
        let Some(next) = change(&current.object) else {
            return;
        };
        if next == current.object {
            return;
        }
        let done = if may_go(&next) {
            cluster.store.remove(resource, &current, next)
        } else {
            cluster.store.replace(resource, &current, next)
        };
        // When the disk does not take it, the agent looks at everything again later.
        if !matches!(done, Err(WriteError::Stale)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
