//! The queue's rules, without locks and with the time as an argument.

use super::concurrency::{Concurrency, ConcurrencyKey, ConcurrencyLimits};
use crate::index::{Priority, Request, RequestKey};
use crate::process::backoff::Backoff;
use crate::runtime::outcome::{Action, Error};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// The time for which batched requests for the same object are collected.
const BATCH_DELAY: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct State {
    backoff: Backoff,
    high: VecDeque<RequestKey>,
    normal: VecDeque<RequestKey>,
    /// The requests in `high`, `normal` or `concurrency`.
    queued: HashMap<RequestKey, Priority>,
    /// The requests being reconciled, with the slots that they hold.
    running: HashMap<RequestKey, Vec<ConcurrencyKey>>,
    pub(super) concurrency: Concurrency,
    /// Requests that waited for a slot of this key and were moved back to `high` or `normal`.
    recalled: HashMap<RequestKey, ConcurrencyKey>,
    /// Requests that were added while they were running.
    added_again: HashMap<RequestKey, Priority>,
    /// Requests that are due at a time. The number tells equal times apart.
    timers: BTreeMap<(Instant, u64), RequestKey>,
    timer_of: HashMap<RequestKey, (Instant, u64)>,
    timers_set: u64,
    failures: HashMap<RequestKey, Failures>,
    /// Requests whose backoff was ended, until they have been reconciled.
    backoff_ended: HashSet<RequestKey>,
    /// The number of conflicts in a row that a request ended with.
    conflicts: HashMap<RequestKey, u32>,
}

/// The failures of a request in a row.
#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    /// True if the delay after the last one was named by the driver, which is kept.
    has_delay_of_driver: bool,
}

impl State {
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            backoff,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, request: Request, now: Instant) {
        let Request { key, priority } = request;
        if self.running.contains_key(&key) {
            let again = self.added_again.entry(key).or_insert(priority);
            *again = (*again).max(priority);
        } else if priority == Priority::Batched {
            self.set_timer(key, now + BATCH_DELAY);
        } else {
            self.push(key, priority);
        }
    }

    /// The next request whose concurrency keys all have a free slot.
    pub(super) fn take(
        &mut self,
        now: Instant,
        limits_of: &dyn Fn(&RequestKey) -> ConcurrencyLimits,
    ) -> Option<RequestKey> {
        while let Some(entry) = self.timers.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            self.timer_of.remove(&key);
            self.push(key, Priority::Normal);
        }
        // A request whose priority rose while it was queued is in both queues; its second
        // occurrence is skipped.
        loop {
            let high = self.high.pop_front();
            let key = high.or_else(|| self.normal.pop_front())?;
            let Some(priority) = self.queued.get(&key).copied() else {
                continue;
            };
            let recalled = self.recalled.remove(&key);
            let limits = limits_of(&key);
            let full = self.concurrency.acquire(&limits).err();
            // A slot that the request was recalled for and did not take is left to the next one.
            if let Some(recalled) = recalled
                && full.as_ref() != Some(&recalled)
                && (full.is_some() || limits.slots.iter().all(|(key, _)| *key != recalled))
            {
                self.recall_next(&recalled);
            }
            if let Some(full) = full {
                self.concurrency.wait(full, key, priority, limits.batch);
                continue;
            }
            self.queued.remove(&key);
            let held = limits.slots.into_iter().map(|(key, _)| key).collect();
            self.running.insert(key.clone(), held);
            return Some(key);
        }
    }

    /// By kind: how many requests are queued, and how many are being reconciled. Those that wait
    /// for a time do not count.
    pub(super) fn sizes(&self) -> Vec<(&'static str, usize, usize)> {
        let count = |keys: &mut dyn Iterator<Item = &RequestKey>, kind| {
            keys.filter(|key| key.kind() == kind).count()
        };
        let sizes = RequestKey::KINDS.map(|kind| {
            let pending = count(&mut self.queued.keys(), kind);
            (kind, pending, count(&mut self.running.keys(), kind))
        });
        sizes.to_vec()
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.timers.first_key_value().map(|((due, _), _)| *due)
    }

    pub(super) fn retry_delay(
        &self,
        key: &RequestKey,
        needs_change: bool,
        jitter: f64,
    ) -> Duration {
        let failures = self.failures.get(key).map_or(0, |failures| failures.count);
        self.delay_after(failures.saturating_add(1), needs_change, jitter)
    }

    /// The backoff after failures in a row; the longest one if only a change of the object can end them.
    fn delay_after(&self, failures: u32, needs_change: bool, jitter: f64) -> Duration {
        let failures = if needs_change { u32::MAX } else { failures };
        self.backoff.after(failures, jitter)
    }

    pub(super) fn backing_off(&self) -> Vec<RequestKey> {
        let waiting = self.failures.keys();
        let waiting = waiting.filter(|key| self.timer_of.contains_key(*key));
        waiting.cloned().collect()
    }

    /// Makes a request due that waits for its backoff, and forgets its failures. Returns whether it
    /// waited, and not for a delay that its driver named.
    pub(super) fn end_backoff(&mut self, key: &RequestKey) -> bool {
        let failures = self.failures.get(key);
        let is_waiting = failures.is_some_and(|failures| !failures.has_delay_of_driver)
            && self.timer_of.contains_key(key);
        if is_waiting {
            self.failures.remove(key);
            self.backoff_ended.insert(key.clone());
            self.push(key.clone(), Priority::Normal);
        }
        is_waiting
    }

    pub(super) fn is_backoff_ended(&self, key: &RequestKey) -> bool {
        self.backoff_ended.contains(key)
    }

    pub(super) fn done(
        &mut self,
        key: RequestKey,
        result: &Result<Action, Error>,
        now: Instant,
        jitter: f64,
    ) {
        for held in self.running.remove(&key).into_iter().flatten() {
            self.release(&held);
        }
        self.backoff_ended.remove(&key);
        let action = match result {
            Ok(action) => Some(*action),
            Err(error) => error.action(),
        };
        let factor = self.conflict_factor(&key, result);
        let delay = if let Some(action) = action {
            // The step that fails may come after the next one.
            if action != Action::RequeueNow {
                self.failures.remove(&key);
            }
            let longest = self.backoff.max;
            let delay = action.delay();
            delay.map(|delay| delay.max(delay.saturating_mul(factor).min(longest)))
        } else {
            let failures = self.failures.entry(key.clone()).or_default();
            let error = result.as_ref().err();
            failures.count = failures.count.saturating_add(1);
            failures.has_delay_of_driver = error.is_some_and(Error::has_delay_of_driver);
            let (count, asked) = (failures.count, error.and_then(Error::retry_delay));
            let needs_change = error.is_some_and(Error::needs_change);
            Some(asked.unwrap_or_else(|| self.delay_after(count, needs_change, jitter)))
        };
        if let Some(priority) = self.added_again.remove(&key) {
            let key = key.clone();
            self.add(Request { key, priority }, now);
            if priority != Priority::Batched {
                return;
            }
        }
        match delay {
            Some(Duration::ZERO) => self.push(key, Priority::Normal),
            Some(delay) => self.set_timer(key, now + delay),
            None => {}
        }
    }

    /// By what the delay after a conflict is multiplied: it doubles with each further one in a row,
    /// because a conflict that repeats is not caused by a watch that is behind.
    fn conflict_factor(&mut self, key: &RequestKey, result: &Result<Action, Error>) -> u32 {
        if !result.as_ref().is_err_and(Error::is_conflict) {
            self.conflicts.remove(key);
            return 1;
        }
        let conflicts = self.conflicts.entry(key.clone()).or_default();
        *conflicts = conflicts.saturating_add(1);
        1 << (*conflicts - 1).min(16)
    }

    /// Frees a slot, so that the next request that waits for it can start.
    pub(super) fn release(&mut self, key: &ConcurrencyKey) {
        self.concurrency.release(key);
        self.recall_next(key);
    }

    /// Moves the next request that waits for a slot to the head of its queue.
    pub(super) fn recall_next(&mut self, key: &ConcurrencyKey) {
        while let Some(request) = self.concurrency.next(key) {
            let queue = match self.queued.get(&request) {
                Some(Priority::High) => &mut self.high,
                Some(_) => &mut self.normal,
                // It has been taken since, from the queue of its higher priority.
                None => continue,
            };
            queue.push_front(request.clone());
            self.recalled.insert(request, key.clone());
            return;
        }
    }

    fn push(&mut self, key: RequestKey, priority: Priority) {
        if let Some(timer) = self.timer_of.remove(&key) {
            self.timers.remove(&timer);
        }
        if self.queued.get(&key).is_some_and(|old| *old >= priority) {
            return;
        }
        self.queued.insert(key.clone(), priority);
        if priority == Priority::High {
            self.high.push_back(key);
        } else {
            self.normal.push_back(key);
        }
    }

    /// Sets a request's timer unless it is queued already or due earlier.
    fn set_timer(&mut self, key: RequestKey, due: Instant) {
        if self.queued.contains_key(&key) {
            return;
        }
        if let Some(earlier) = self.timer_of.get(&key) {
            if earlier.0 <= due {
                return;
            }
            self.timers.remove(earlier);
        }
        self.timers_set += 1;
        let timer = (due, self.timers_set);
        self.timers.insert(timer, key.clone());
        self.timer_of.insert(key, timer);
    }
}

#[cfg(test)]
mod tests;
