//! Limits of the hooks that run at a time, and of those that may wait.
//!
//! A permit to run is the last thing that a hook waits for, after the other calls of its record and
//! of its load balancer. A hook that waits holds none, so a hook that holds one ends without needing
//! another. Permits are given in the order of the requests for them.

use super::metrics::{Counted, WebhookMetrics};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most that the bodies of the requests that wait may have together, in bytes.
const WAITING_BYTES: usize = 256 << 20;

/// The number of `healthz` hooks that run at a time. They have permits of their own, so that other hooks do not
/// delay them, and few, so that hooks that hang do not become more with every probe.
const HEALTH: usize = 64;

/// The permits of one router.
#[derive(Debug)]
pub(super) struct HookPermits {
    running: Arc<Semaphore>,
    health: Arc<Semaphore>,
    queue: Arc<Queue>,
}

/// The right to run; dropping it passes it to the next hook that waits.
#[derive(Debug)]
pub(super) struct HookPermit(
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

impl HookPermits {
    /// `max_running` is at least 1, as nothing could ever run without.
    pub(super) fn new(max_running: usize, max_queued: usize) -> Self {
        let running = max_running.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            running: Arc::new(Semaphore::new(running)),
            health: Arc::new(Semaphore::new(HEALTH)),
            queue: Arc::new(Queue {
                limit: max_queued,
                waiting: Mutex::default(),
            }),
        }
    }

    /// A permit, if one is free and no hook waits for it.
    pub(super) fn try_acquire(&self) -> Option<HookPermit> {
        let permit = Arc::clone(&self.running).try_acquire_owned();
        permit.ok().map(HookPermit)
    }

    /// A permit for `healthz`, if one is free.
    pub(super) fn try_acquire_health(&self) -> Option<HookPermit> {
        let permit = Arc::clone(&self.health).try_acquire_owned();
        permit.ok().map(HookPermit)
    }

    /// Waits for a permit.
    pub(super) async fn acquire(&self) -> Option<HookPermit> {
        let permit = Arc::clone(&self.running).acquire_owned().await;
        // The semaphore is never closed.
        permit.ok().map(HookPermit)
    }

    /// The right to wait with a request of this size; none where too many requests wait.
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
