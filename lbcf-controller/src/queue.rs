//! The queue of work.
//!
//! A key is never worked on twice at a time, however often it is added; what takes away comes
//! before what adds; a key that failed waits for its turn, and a change of its object shortens the
//! wait. [`state`] holds the rules, with the time as an argument; this module puts them behind a
//! lock and wakes whoever waits.

mod backoff;
mod lanes;
mod state;

pub use backoff::Backoff;
pub(crate) use backoff::{jitter, spread};
pub(crate) use lanes::Lane;

use crate::key::WorkKey;
use crate::work::{Progress, Work};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The queue of work.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

impl Queue {
    /// An empty queue.
    #[must_use]
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self {
            state: Mutex::new(State::new(backoff)),
            changed: Notify::new(),
        }
    }

    /// Adds work.
    pub(crate) fn add(&self, work: impl IntoIterator<Item = Work>) {
        let now = Instant::now();
        let mut state = self.lock();
        for work in work {
            state.add(work, now);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for the next key. It is the caller's until [`Queue::done`] is told of it.
    ///
    /// `lane_of` says which lane a key needs and how many may be in it. It is asked while the
    /// queue is locked, so it must not come back to the queue.
    pub(crate) async fn next(
        &self,
        lane_of: impl Fn(&WorkKey) -> Option<(Lane, usize)>,
    ) -> WorkKey {
        loop {
            let changed = self.changed.notified();
            let due = {
                let mut state = self.lock();
                if let Some(key) = state.take(Instant::now(), &lane_of) {
                    return key;
                }
                state.next_due()
            };
            match due {
                Some(due) => tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(due) => {}
                },
                None => changed.await,
            }
        }
    }

    /// Gives a key back.
    pub(crate) fn done(&self, key: WorkKey, progress: Progress) {
        self.lock().done(key, progress, Instant::now(), jitter());
        self.changed.notify_one();
    }

    /// How long a key that is being worked on would wait if it failed now.
    pub(crate) fn retry_delay(&self, key: &WorkKey) -> Duration {
        self.lock().retry_delay(key, jitter())
    }

    /// By kind: how many keys wait for their turn, and how many are worked on. Those that wait for
    /// a time do not count.
    pub(crate) fn sizes(&self) -> Vec<(&'static str, usize, usize)> {
        self.lock().sizes()
    }

    /// A key that [`Queue::next`] gave, held in a hand that cannot lose it.
    pub(crate) fn hold(self: Arc<Self>, key: WorkKey) -> Held {
        Held {
            queue: self,
            key: Some(key),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code path panics while it holds the lock; if one did, the state would still be whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key that is being worked on. Dropped without being done, as when the work panicked, it counts
/// as failed and is tried again.
#[derive(Debug)]
pub(crate) struct Held {
    queue: Arc<Queue>,
    key: Option<WorkKey>,
}

impl Held {
    /// Gives the key back.
    pub(crate) fn done(mut self, progress: Progress) {
        if let Some(key) = self.key.take() {
            self.queue.done(key, progress);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.queue.done(key, Progress::Retry(None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectKey;

    #[tokio::test(start_paused = true)]
    async fn a_key_whose_work_panicked_is_tried_again() {
        let queue = Arc::new(Queue::new(Backoff::default()));
        let key = WorkKey::Record(ObjectKey::new("ns", "a"));
        queue.add([Work::in_turn(key.clone())]);
        let held = Arc::clone(&queue).hold(queue.next(|_| None).await);
        let work = tokio::spawn(async move {
            let _held = held;
            panic!("on purpose");
        });
        assert!(work.await.unwrap_err().is_panic());
        let began = Instant::now();
        assert_eq!(queue.next(|_| None).await, key);
        assert!(
            began.elapsed() >= Duration::from_secs(8),
            "it waits as after any failure"
        );
        Arc::clone(&queue).hold(key).done(Progress::Settled);
        assert!(
            tokio::time::timeout(Duration::from_secs(600), queue.next(|_| None))
                .await
                .is_err()
        );
    }
}
