use super::RunError;
use crate::cluster::{EventWriter, WATCHED_KINDS, watch};
use crate::context::Context;
use crate::health::HealthState;
use futures::StreamExt;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The tasks that run as long as the controller: they keep the index up to date and write events.
pub(super) struct Background {
    tasks: JoinSet<()>,
    synced: oneshot::Receiver<()>,
    health: Arc<HealthState>,
}

impl Background {
    pub(super) fn start(
        context: &Arc<Context>,
        health: &Arc<HealthState>,
        events: EventWriter,
    ) -> Self {
        let (sender, synced) = oneshot::channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(events.run());
        tasks.spawn(sync(Arc::clone(context), Arc::clone(health), sender));
        Self {
            tasks,
            synced,
            health: Arc::clone(health),
        }
    }

    /// Waits until all objects were listed once.
    pub(super) async fn until_synced(&mut self) -> Result<(), RunError> {
        let synced = (&mut self.synced).await;
        synced.map_err(|_| self.failed())
    }

    pub(super) async fn until_failed(&mut self) -> RunError {
        self.tasks.join_next().await;
        self.failed()
    }

    fn failed(&self) -> RunError {
        let tasks = "watching or writing events";
        self.health.failed(format!("{tasks} ended unexpectedly"));
        RunError::TaskEnded(tasks)
    }
}

/// Applies watch events to the index, and reports when all objects were listed once.
async fn sync(context: Arc<Context>, health: Arc<HealthState>, synced: oneshot::Sender<()>) {
    let mut events = pin!(watch(&context.client));
    let mut synced = Some(synced);
    let mut listed = HashSet::new();
    while let Some(event) = events.next().await {
        if event.is_init_done && listed.insert(event.kind) {
            health.listed(event.kind);
        }
        let requests = (event.apply)(&mut context.index());
        context.queue.add(requests);
        if listed.len() == WATCHED_KINDS
            && let Some(synced) = synced.take()
        {
            let _ = synced.send(());
        }
    }
}
