//! A mutex for each key, granted in the order of arrival.
//!
//! A waiter is queued when it is created and not when it is first polled, so the order does not
//! depend on how tasks are scheduled. A key that nothing holds takes no memory, and a waiter that
//! is alone allocates nothing.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

#[derive(Debug)]
pub(super) struct KeyedMutex<K, S = RandomState, N = ()>(Arc<Queues<K, S, N>>);

/// For each key that is held: the waiters behind the holder, some of which may have been dropped.
#[derive(Debug)]
struct Queues<K, S, N>(Mutex<HashMap<K, VecDeque<Queued<N>>, S>>);

type LockedQueues<'a, K, S, N> = MutexGuard<'a, HashMap<K, VecDeque<Queued<N>>, S>>;

#[derive(Debug)]
struct Queued<N> {
    grant: oneshot::Sender<()>,
    note: N,
}

impl<K, S: Default, N> Default for KeyedMutex<K, S, N> {
    fn default() -> Self {
        Self(Arc::new(Queues(Mutex::default())))
    }
}

impl<K, S, N> Clone for KeyedMutex<K, S, N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash + Clone, S: BuildHasher, N> KeyedMutex<K, S, N> {
    /// Joins the end of the key's queue, with a note for those who [visit](Self::visit) it.
    pub(super) fn enqueue(&self, key: K, note: N) -> Waiter<K, S, N> {
        let mut queues = self.0.lock();
        let granted = match queues.get_mut(&key) {
            Some(queue) => {
                let (grant, granted) = oneshot::channel();
                queue.push_back(Queued { grant, note });
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

    /// Shows the notes of those who wait for a key, in their order.
    pub(super) fn visit(&self, key: &K, mut visit: impl FnMut(&N) -> ControlFlow<()>) {
        let queues = self.0.lock();
        let queue = queues.get(key).into_iter().flatten();
        for waiter in queue.filter(|waiter| !waiter.grant.is_closed()) {
            if visit(&waiter.note).is_break() {
                return;
            }
        }
    }
}

impl<K, S, N> Queues<K, S, N> {
    fn lock(&self) -> LockedQueues<'_, K, S, N> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds a key, or waits for it. Dropping it passes the key to the next waiter.
#[derive(Debug)]
pub(super) struct Waiter<K: Eq + Hash, S: BuildHasher = RandomState, N = ()> {
    queues: Arc<Queues<K, S, N>>,
    key: K,
    /// `None` once the key is held.
    granted: Option<oneshot::Receiver<()>>,
}

impl<K: Eq + Hash, S: BuildHasher, N> Waiter<K, S, N> {
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

impl<K: Eq + Hash, S: BuildHasher, N> Drop for Waiter<K, S, N> {
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
            if next.grant.send(()).is_ok() {
                return;
            }
        }
        queues.remove(&self.key);
    }
}

#[cfg(test)]
mod tests;
