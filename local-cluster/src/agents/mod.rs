//! What runs in a cluster besides the API: nodes, the collector, namespaces, definitions.
//!
//! Each agent is a plain state machine: it observes changes and acts when it is told to. The loop
//! here feeds it from the journal of everything, so that an agent needs no task, timer or lock of
//! its own. Agents write to the store directly; no request is counted for them.

mod definitions;
mod garbage;
mod lineage;
mod namespaces;
mod node;
mod phase;

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::object::Object;
use crate::options::LocalClusterOptions;
use crate::store::{Change, Resource, Stored};
use crate::writer::Cluster;

/// A state machine that reacts to changes.
trait Agent: Send + 'static {
    /// Starts anew from everything that there is.
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>);
    /// Learns of a change.
    fn observe(&mut self, change: &Change);
    /// Does what is to be done now; says when it wants to be asked again.
    fn act(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant>;
}

/// Starts all agents; they end with the cluster.
pub(crate) fn spawn(cluster: &Arc<Cluster>, options: &LocalClusterOptions, tasks: &TaskTracker) {
    tasks.spawn(run(
        Arc::clone(cluster),
        definitions::Definitions::default(),
    ));
    tasks.spawn(run(Arc::clone(cluster), node::NodeAgent::new(options)));
    tasks.spawn(run(Arc::clone(cluster), garbage::Collector::default()));
    tasks.spawn(run(Arc::clone(cluster), namespaces::Namespaces::default()));
}

async fn run(cluster: Arc<Cluster>, mut agent: impl Agent) {
    loop {
        let (objects, mut follower) = cluster.store.follow_all();
        agent.reset(objects);
        loop {
            let wake = agent.act(&cluster, Instant::now());
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
/// `change` says `None` when there is nothing to do (any more).
fn rewrite(
    cluster: &Cluster,
    resource: &Resource,
    (namespace, name): (&str, &str),
    change: impl Fn(&Object) -> Option<Object>,
) {
    while let Some(current) = cluster.store.get(resource, namespace, name) {
        let Some(next) = change(&current.object) else {
            return;
        };
        if next == current.object || cluster.store.replace(resource, &current, next).is_ok() {
            return;
        }
    }
}
