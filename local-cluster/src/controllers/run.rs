//! The loop that runs a controller.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::store::{Resource, StoreEvent, Stored, WatchCursor};
use crate::writer::Cluster;

/// The wait of a controller after the disk refused one of its writes.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A state machine that follows the store and reconciles what it finds there.
pub(super) trait Controller: Send + 'static {
    /// Rebuilds the state from all objects in the store.
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>);
    fn apply(&mut self, event: &StoreEvent);
    /// Reconciles what has changed. Returns when to be called again if nothing else changes.
    fn reconcile(
        &mut self,
        cluster: &Cluster,
        now: Instant,
    ) -> impl Future<Output = Option<Instant>> + Send;
}

/// Runs a controller until the cluster stops.
pub(super) async fn run(cluster: Arc<Cluster>, mut controller: impl Controller) {
    loop {
        let (objects, mut cursor) = WatchCursor::of_everything(&cluster.store);
        controller.reset(objects);
        loop {
            let failures = cluster.store.failures();
            let wake = tokio::select! {
                () = cluster.stop.cancelled() => return,
                wake = controller.reconcile(&cluster, Instant::now()) => wake,
            };
            if cluster.store.failures() != failures {
                // A write may be lost: start over from the store once the disk may have recovered.
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
                events = cursor.next() => match events {
                    Ok(events) => events.iter().for_each(|event| controller.apply(event)),
                    // The watch cache has dropped events that this controller did not see.
                    Err(_) => break,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests;
