//! Reading the journals at one's own pace.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Change, Expired, Resource, Store, Stored};

/// Reads a journal from a position on.
#[derive(Debug)]
pub(crate) struct Follower {
    store: Arc<Store>,
    /// `None` follows every resource.
    resource: Option<Resource>,
    position: u64,
    head: watch::Receiver<u64>,
}

impl Follower {
    /// Follows one resource from a revision on.
    pub(crate) fn of(store: &Arc<Store>, resource: &Resource, position: u64) -> Self {
        Self {
            store: Arc::clone(store),
            resource: Some(resource.clone()),
            position,
            head: store.head_of(resource),
        }
    }

    /// Follows everything from now on, and says what there is now.
    pub(crate) fn of_everything(store: &Arc<Store>) -> (Vec<(Resource, Arc<Stored>)>, Self) {
        let (objects, position, head) = store.everything();
        let follower = Self {
            store: Arc::clone(store),
            resource: None,
            position,
            head,
        };
        (objects, follower)
    }

    /// Up to which revision this follower has seen everything.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The next changes, without waiting; empty when there are none yet.
    pub(crate) fn take(&mut self, max: usize) -> Result<Vec<Arc<Change>>, Expired> {
        // Marked as seen before reading: a write in between wakes the next wait at once.
        self.head.mark_unchanged();
        let (changes, revision) =
            self.store
                .changes_after(self.resource.as_ref(), self.position, max)?;
        self.position = match changes.last() {
            Some(last) if changes.len() >= max => last.revision(),
            _ => revision,
        };
        Ok(changes)
    }

    /// Waits until there may be more.
    pub(crate) async fn wait(&mut self) {
        if self.head.changed().await.is_err() {
            // The store lives as long as this follower holds it, so this does not happen.
            std::future::pending::<()>().await;
        }
    }

    /// The next changes, waiting for the first.
    pub(crate) async fn next(&mut self) -> Result<Vec<Arc<Change>>, Expired> {
        loop {
            let changes = self.take(256)?;
            if !changes.is_empty() {
                return Ok(changes);
            }
            self.wait().await;
        }
    }
}
