//! How many hooks run at a time, and how many more may wait.
//!
//! A place to run is the last thing that a hook waits for, after its record's turn and its load
//! balancer's, and it is held by nobody who waits: whoever holds one runs, and gives it back
//! without needing anybody else. Places are given in the order in which they were asked for.

use super::metrics::{Counted, WebhookMetrics};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How much memory the requests that wait may take together, in bytes of their bodies.
const WAITING_BYTES: usize = 256 << 20;

/// How many `healthz` hooks run at a time. They have places of their own, as nothing may hold them
/// up, and few: should they hang, there must not be one more with every probe.
const HEALTH: usize = 64;

/// The places of one router.
#[derive(Debug)]
pub(super) struct Places {
    running: Arc<Semaphore>,
    health: Arc<Semaphore>,
    queue: Arc<Queue>,
}

/// The right to run; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Place(
    // Whoever waits next gets it.
    #[expect(dead_code, reason = "it acts when it is dropped")] OwnedSemaphorePermit,
);

/// The right to wait; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Queued {
    queue: Arc<Queue>,
    bytes: usize,
    _counted: Counted,
}

#[derive(Debug)]
struct Queue {
    limit: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    count: usize,
    bytes: usize,
}

impl Places {
    /// With none at all nothing could ever run: 0 is 1.
    pub(super) fn new(max_running: usize, max_queued: usize) -> Self {
        let places = max_running.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            running: Arc::new(Semaphore::new(places)),
            health: Arc::new(Semaphore::new(HEALTH)),
            queue: Arc::new(Queue {
                limit: max_queued,
                waiting: Mutex::default(),
            }),
        }
    }

    /// A place, if one is free and nobody waits for it.
    pub(super) fn try_place(&self) -> Option<Place> {
        let permit = Arc::clone(&self.running).try_acquire_owned();
        permit.ok().map(Place)
    }

    /// A place for `healthz`, if one is free.
    pub(super) fn try_health_place(&self) -> Option<Place> {
        let permit = Arc::clone(&self.health).try_acquire_owned();
        permit.ok().map(Place)
    }

    /// A place, when one is free.
    pub(super) async fn place(&self) -> Option<Place> {
        let permit = Arc::clone(&self.running).acquire_owned().await;
        // It is never closed.
        permit.ok().map(Place)
    }

    /// The right to wait with a request of this size; none where too many wait.
    pub(super) fn queue(&self, bytes: usize, metrics: &Arc<WebhookMetrics>) -> Option<Queued> {
        let mut waiting = self.queue.lock();
        let all_bytes = waiting.bytes.saturating_add(bytes);
        if waiting.count >= self.queue.limit || all_bytes > WAITING_BYTES {
            return None;
        }
        waiting.count += 1;
        waiting.bytes = all_bytes;
        drop(waiting);
        Some(Queued {
            queue: Arc::clone(&self.queue),
            bytes,
            _counted: metrics.waits(),
        })
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        waiting.count -= 1;
        waiting.bytes -= self.bytes;
    }
}

#[cfg(test)]
mod tests;
