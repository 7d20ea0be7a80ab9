//! The queue of reconcile requests.
//!
//! A key is never reconciled twice at a time, however often it is added; requests that may
//! deregister something come first; a key that failed waits, and a change of its object ends the
//! wait. [`state`] holds the rules, [`concurrency`] the limits of calls in flight; this module adds
//! the lock and the waiting.

mod concurrency;
mod state;

pub(crate) use concurrency::{ConcurrencyKey, ConcurrencyLimits, probe_limits, shares};

use crate::index::{Request, RequestKey};
use crate::process::backoff::{Backoff, jitter};
use crate::process::lock::Mutex;
use crate::runtime::outcome::{Action, Error, OperationFailure};
use state::State;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    /// A slot of a concurrency key was freed.
    released: Notify,
}

impl Queue {
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self {
            state: Mutex::new(State::new(backoff)),
            changed: Notify::new(),
            released: Notify::new(),
        }
    }

    pub(crate) fn add(&self, requests: impl IntoIterator<Item = Request>) {
        let now = Instant::now();
        let mut state = self.state.lock();
        for request in requests {
            state.add(request, now);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for the next request. `limits_of` returns the slots that a request needs; it is called
    /// while the queue is locked, so it must not call the queue.
    pub(crate) async fn next(
        self: &Arc<Self>,
        limits_of: impl Fn(&RequestKey) -> ConcurrencyLimits,
    ) -> ActiveRequest {
        loop {
            let changed = self.changed.notified();
            let due = {
                let mut state = self.state.lock();
                if let Some(key) = state.take(Instant::now(), &limits_of) {
                    let (queue, result) = (Arc::clone(self), Err(Error::Aborted));
                    return ActiveRequest { queue, key, result };
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

    /// Waits for a slot for a call that does not belong to a request.
    pub(crate) async fn permit(&self, key: ConcurrencyKey, limit: usize) -> CallPermit<'_> {
        self.state.lock().concurrency.reserve_for_call(&key);
        let mut permit = CallPermit {
            queue: self,
            key,
            has_slot: false,
        };
        while !permit.has_slot {
            let released = self.released.notified();
            permit.has_slot = self
                .state
                .lock()
                .concurrency
                .acquire_for_call(&permit.key, limit);
            if !permit.has_slot {
                released.await;
            }
        }
        permit
    }

    /// The time that a request that is being reconciled would wait if it failed now.
    pub(crate) fn retry_delay(&self, key: &RequestKey, failure: &OperationFailure) -> Duration {
        let needs_change = failure.needs_change();
        self.state.lock().retry_delay(key, needs_change, jitter())
    }

    /// The requests that failed and wait for their backoff to end.
    pub(crate) fn backing_off(&self) -> Vec<RequestKey> {
        self.state.lock().backing_off()
    }

    /// Makes requests due whose backoff has lost its reason, and returns how many. Those that wait for
    /// a delay that a driver named go on waiting.
    pub(crate) fn end_backoff(&self, keys: &[RequestKey]) -> usize {
        let mut state = self.state.lock();
        let ended = keys.iter().filter(|key| state.end_backoff(key)).count();
        drop(state);
        self.changed.notify_one();
        ended
    }

    /// True if a request runs because its backoff was ended, so that a delay of it that was stored does
    /// not apply any more.
    pub(crate) fn is_backoff_ended(&self, key: &RequestKey) -> bool {
        self.state.lock().is_backoff_ended(key)
    }

    pub(crate) fn sizes(&self) -> Vec<(&'static str, usize, usize)> {
        self.state.lock().sizes()
    }

    fn notify_released(&self) {
        self.changed.notify_one();
        self.released.notify_waiters();
    }
}

/// A request that is being reconciled. Dropped before it is done, as when the reconciliation
/// panics, it counts as failed.
#[derive(Debug)]
pub(crate) struct ActiveRequest {
    queue: Arc<Queue>,
    pub(crate) key: RequestKey,
    result: Result<Action, Error>,
}

impl ActiveRequest {
    pub(crate) fn done(mut self, result: Result<Action, Error>) {
        self.result = result;
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let (key, now) = (self.key.clone(), Instant::now());
        self.queue
            .state
            .lock()
            .done(key, &self.result, now, jitter());
        self.queue.notify_released();
    }
}

/// A slot for a call outside of requests, or the wait for it.
#[derive(Debug)]
pub(crate) struct CallPermit<'a> {
    queue: &'a Queue,
    key: ConcurrencyKey,
    has_slot: bool,
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        if self.has_slot {
            state.release(&self.key);
        } else {
            state.concurrency.cancel_reservation(&self.key);
            state.recall_next(&self.key);
        }
        drop(state);
        self.queue.notify_released();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;

    fn key(name: &str) -> RequestKey {
        RequestKey::Record(ObjectKey::new("ns", name))
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_reconciliation_panicked_is_retried() {
        let queue = Arc::new(Queue::new(Backoff::default()));
        queue.add([Request::normal(key("a"))]);
        let active = queue.next(|_| ConcurrencyLimits::default()).await;
        let work = tokio::spawn(async move {
            let _active = active;
            panic!("on purpose");
        });
        assert!(work.await.unwrap_err().is_panic());
        let began = Instant::now();
        let active = queue.next(|_| ConcurrencyLimits::default()).await;
        assert_eq!(active.key, key("a"));
        assert!(
            began.elapsed() >= Duration::from_secs(8),
            "it waits as after any failure"
        );
        active.done(Ok(Action::AwaitChange));
        assert!(
            tokio::time::timeout(
                Duration::from_secs(600),
                queue.next(|_| ConcurrencyLimits::default())
            )
            .await
            .is_err()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn u38_a_call_outside_of_requests_gets_the_next_slot_of_the_same_limit() {
        let queue = Arc::new(Queue::new(Backoff::default()));
        let driver = ConcurrencyKey::Driver(ObjectKey::new("ns", "driver"));
        let limits = |_: &RequestKey| vec![(driver.clone(), 1)].into();
        queue.add([Request::normal(key("a")), Request::normal(key("b"))]);
        let active = queue.next(limits).await;
        let moment = Duration::from_secs(1);
        let call = queue.permit(driver.clone(), 1);
        assert!(tokio::time::timeout(moment, call).await.is_err());
        let call = queue.permit(driver.clone(), 1);
        let request = async {
            active.done(Ok(Action::AwaitChange));
            tokio::time::timeout(moment, queue.next(limits)).await
        };
        let (permit, request) = tokio::join!(call, request);
        assert!(request.is_err(), "the call was first");
        drop(permit);
        assert_eq!(queue.next(limits).await.key, key("b"));
        assert!(queue.state.lock().concurrency.is_empty());
    }
}
