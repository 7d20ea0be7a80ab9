//! A mutex for each key, granted in the order of arrival.
//!
//! A waiter is queued when it is created and not when it is first polled, so the order does not
//! depend on how tasks are scheduled. A key that nothing holds takes no memory, and a waiter that
//! is alone allocates nothing.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

#[derive(Debug)]
pub(super) struct KeyedMutex<K, S = RandomState>(Arc<Queues<K, S>>);

/// For each key that is held: the waiters behind the holder, some of which may have been dropped.
#[derive(Debug)]
struct Queues<K, S>(Mutex<HashMap<K, VecDeque<oneshot::Sender<()>>, S>>);

type LockedQueues<'a, K, S> = MutexGuard<'a, HashMap<K, VecDeque<oneshot::Sender<()>>, S>>;

impl<K, S: Default> Default for KeyedMutex<K, S> {
    fn default() -> Self {
        Self(Arc::new(Queues(Mutex::default())))
    }
}

impl<K: Eq + Hash + Clone, S: BuildHasher> KeyedMutex<K, S> {
    /// Joins the end of the key's queue.
    pub(super) fn enqueue(&self, key: K) -> Waiter<K, S> {
        let mut queues = self.0.lock();
        let granted = match queues.get_mut(&key) {
            Some(queue) => {
                let (grant, granted) = oneshot::channel();
                queue.push_back(grant);
                Some(granted)
            }
            None => {
                queues.insert(key.clone(), VecDeque::new());
                None
            }
        };
        drop(queues);
        Waiter {
            queues: Arc::clone(&self.0),
            key,
            granted,
        }
    }
}

impl<K, S> Queues<K, S> {
    fn lock(&self) -> LockedQueues<'_, K, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds a key, or waits for it. Dropping it passes the key to the next waiter.
#[derive(Debug)]
pub(super) struct Waiter<K: Eq + Hash, S: BuildHasher = RandomState> {
    queues: Arc<Queues<K, S>>,
    key: K,
    /// `None` once the key is held.
    granted: Option<oneshot::Receiver<()>>,
}

impl<K: Eq + Hash, S: BuildHasher> Waiter<K, S> {
    pub(super) const fn is_waiting(&self) -> bool {
        self.granted.is_some()
    }

    /// Waits until the key is held.
    pub(super) async fn acquire(&mut self) {
        if let Some(granted) = &mut self.granted {
            // The sender is only dropped after sending.
            let _ = granted.await;
            self.granted = None;
        }
    }
}

impl<K: Eq + Hash, S: BuildHasher> Drop for Waiter<K, S> {
    fn drop(&mut self) {
        if let Some(mut granted) = self.granted.take() {
            granted.close();
            if granted.try_recv().is_err() {
                // It never held the key; the holder skips it in the queue.
                return;
            }
        }
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(&self.key) else {
            return;
        };
        while let Some(next) = queue.pop_front() {
            if next.send(()).is_ok() {
                return;
            }
        }
        queues.remove(&self.key);
    }
}

#[cfg(test)]
mod tests;
