//! Reads the watch cache at the reader's pace.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Expired, Resource, Store, StoreEvent, Stored};

/// A position in the watch cache of one resource or of all.
#[derive(Debug)]
pub(crate) struct WatchCursor {
    store: Arc<Store>,
    /// `None` for all resources.
    resource: Option<Resource>,
    position: u64,
    head: watch::Receiver<u64>,
}

impl WatchCursor {
    /// Reads the events of a resource after a revision.
    pub(crate) fn of(store: &Arc<Store>, resource: &Resource, position: u64) -> Self {
        Self {
            store: Arc::clone(store),
            resource: Some(resource.clone()),
            position,
            head: store.head_of(resource),
        }
    }

    /// Reads all events from now on. Returns all objects too.
    pub(crate) fn of_everything(store: &Arc<Store>) -> (Vec<(Resource, Arc<Stored>)>, Self) {
        let (objects, position, head) = store.everything();
        let cursor = Self {
            store: Arc::clone(store),
            resource: None,
            position,
            head,
        };
        (objects, cursor)
    }

    /// The revision up to which all events were read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The next events, at most `max`, without waiting.
    pub(crate) fn take(&mut self, max: usize) -> Result<Vec<Arc<StoreEvent>>, Expired> {
        // Marked before reading, so that a concurrent write wakes the next wait.
        self.head.mark_unchanged();
        let (events, revision) =
            self.store
                .events_after(self.resource.as_ref(), self.position, max)?;
        self.position = match events.last() {
            Some(last) if events.len() >= max => last.revision(),
            _ => revision,
        };
        Ok(events)
    }

    /// Waits until there may be more events.
    pub(crate) async fn wait(&mut self) {
        if self.head.changed().await.is_err() {
            // The sender lives as long as the store, which this cursor holds.
            std::future::pending::<()>().await;
        }
    }

    /// Waits for the next events.
    pub(crate) async fn next(&mut self) -> Result<Vec<Arc<StoreEvent>>, Expired> {
        loop {
            let events = self.take(256)?;
            if !events.is_empty() {
                return Ok(events);
            }
            self.wait().await;
        }
    }
}
