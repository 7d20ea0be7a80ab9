//! The queue's rules, without locks and with the time as an argument.

use super::Backoff;
use super::concurrency::{Concurrency, ConcurrencyKey, ConcurrencyLimits};
use crate::key::RequestKey;
use crate::reconcile::{Action, Error, Priority, Request};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// How long batched requests for the same object are collected.
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
    /// How often in a row a request ended with a conflict.
    conflicts: HashMap<RequestKey, u32>,
}

/// The failures of a request in a row.
#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    /// Whether the delay after the last one was named by the driver, which is kept (d22).
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
                && (full.is_some() || limits.iter().all(|(key, _)| *key != recalled))
            {
                self.recall_next(&recalled);
            }
            if let Some(full) = full {
                self.concurrency.wait(full, key, priority);
                continue;
            }
            self.queued.remove(&key);
            let held = limits.into_iter().map(|(key, _)| key).collect();
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

    pub(super) fn retry_delay(&self, key: &RequestKey, jitter: f64) -> Duration {
        let failures = self.failures.get(key).map_or(0, |failures| failures.count);
        self.backoff.after(failures.saturating_add(1), jitter)
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
            self.failures.remove(&key);
            let longest = self.backoff.max;
            let delay = action.delay();
            delay.map(|delay| delay.max(delay.saturating_mul(factor).min(longest)))
        } else {
            let failures = self.failures.entry(key.clone()).or_default();
            let error = result.as_ref().err();
            failures.count = failures.count.saturating_add(1);
            failures.has_delay_of_driver = error.is_some_and(Error::has_delay_of_driver);
            let asked = error.and_then(Error::retry_delay);
            Some(asked.unwrap_or_else(|| self.backoff.after(failures.count, jitter)))
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
    /// because a conflict that repeats is not caused by a watch that is behind (d35).
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
mod tests {
    use super::*;
    use crate::cluster::WriteError;
    use crate::key::ObjectKey;
    use crate::reconcile::OperationFailure;

    fn key(name: &str) -> RequestKey {
        RequestKey::Record(ObjectKey::new("ns", name))
    }

    fn unlimited(_: &RequestKey) -> ConcurrencyLimits {
        Vec::new()
    }

    fn failed(retry_delay: Option<Duration>) -> Result<Action, Error> {
        Err(Error::Operation(OperationFailure {
            reason: "OperationFailed",
            message: String::new(),
            retry_delay,
        }))
    }

    fn state() -> State {
        State::new(Backoff::default())
    }

    #[test]
    fn b135_a_key_is_never_reconciled_twice_at_a_time() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Request::normal(key("a")), now);
        state.add(Request::normal(key("a")), now);
        assert_eq!(state.take(now, &unlimited), Some(key("a")));
        state.add(Request::normal(key("a")), now);
        assert_eq!(state.take(now, &unlimited), None, "it is being reconciled");
        state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
        assert_eq!(
            state.take(now, &unlimited),
            Some(key("a")),
            "it was added while it ran"
        );
        state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
        assert_eq!(state.take(now, &unlimited), None);
    }

    #[test]
    fn u42_deregistering_comes_before_adding() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Request::normal(key("add")), now);
        state.add(Request::normal(key("both")), now);
        state.add(Request::high(key("deregister")), now);
        state.add(Request::high(key("both")), now);
        let order: Vec<_> = std::iter::from_fn(|| state.take(now, &unlimited)).collect();
        assert_eq!(order, [key("deregister"), key("both"), key("add")]);
    }

    #[test]
    fn b136_d22_failures_wait_longer_each_time_and_a_success_resets_them() {
        let (mut state, mut now) = (state(), Instant::now());
        state.add(Request::normal(key("a")), now);
        for seconds in [10, 20, 40] {
            assert_eq!(state.take(now, &unlimited), Some(key("a")));
            state.done(key("a"), &failed(None), now, 0.0);
            assert_eq!(state.next_due(), Some(now + Duration::from_secs(seconds)));
            now += Duration::from_secs(seconds);
        }
        assert_eq!(state.take(now, &unlimited), Some(key("a")));
        state.done(
            key("a"),
            &Ok(Action::RequeueAfter(Duration::from_secs(1))),
            now,
            0.0,
        );
        now += Duration::from_secs(1);
        assert_eq!(state.take(now, &unlimited), Some(key("a")));
        state.done(key("a"), &failed(None), now, 0.0);
        assert_eq!(state.next_due(), Some(now + Duration::from_secs(10)));
    }

    #[test]
    fn d22_a_drivers_own_delay_is_kept_exactly() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Request::normal(key("a")), now);
        state.take(now, &unlimited);
        let asked = Duration::from_secs(300);
        state.done(key("a"), &failed(Some(asked)), now, 1.0);
        assert_eq!(state.next_due(), Some(now + asked));
    }

    #[test]
    fn d51_requests_that_back_off_become_due_and_those_with_a_drivers_delay_do_not() {
        let (mut state, now) = (state(), Instant::now());
        let asked = Duration::from_secs(300);
        let stored = || {
            let failure = OperationFailure {
                reason: "CreateFailed",
                message: String::new(),
                retry_delay: None,
            };
            Err(Error::BackingOff(failure, Duration::from_secs(100)))
        };
        let polled = Ok(Action::RequeueAfter(asked));
        for (name, result) in [
            ("failed", failed(None)),
            ("stored", stored()),
            ("asked", failed(Some(asked))),
            ("polled", polled),
        ] {
            state.add(Request::normal(key(name)), now);
            assert_eq!(state.take(now, &unlimited), Some(key(name)));
            state.done(key(name), &result, now, 0.0);
        }
        let mut waiting = state.backing_off();
        waiting.sort();
        assert_eq!(waiting, [key("asked"), key("failed"), key("stored")]);
        waiting.push(key("polled"));
        waiting.push(key("unknown"));
        waiting.retain(|key| state.end_backoff(key));
        assert_eq!(waiting, [key("failed"), key("stored")]);
        for name in ["failed", "stored"] {
            assert_eq!(state.take(now, &unlimited), Some(key(name)));
            assert!(state.is_backoff_ended(&key(name)));
            // The backoff begins again.
            assert_eq!(state.retry_delay(&key(name), 0.0), Duration::from_secs(10));
            state.done(key(name), &failed(None), now, 0.0);
            assert!(!state.is_backoff_ended(&key(name)));
        }
        assert_eq!(state.next_due(), Some(now + Duration::from_secs(10)));
        let later = now + Duration::from_secs(299);
        let due: Vec<_> = std::iter::from_fn(|| state.take(later, &unlimited)).collect();
        assert_eq!(due, [key("failed"), key("stored")]);
    }

    #[test]
    fn a_change_of_the_object_ends_the_wait() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Request::normal(key("a")), now);
        state.take(now, &unlimited);
        state.done(key("a"), &failed(None), now, 0.0);
        assert_eq!(state.take(now, &unlimited), None);
        state.add(Request::normal(key("a")), now);
        assert_eq!(state.take(now, &unlimited), Some(key("a")));
        assert_eq!(state.next_due(), None, "its timer is removed");
    }

    #[test]
    fn b143_b144_sizes_are_counted_by_kind() {
        let (mut state, now) = (state(), Instant::now());
        for name in ["a", "b", "c"] {
            state.add(Request::normal(key(name)), now);
        }
        state.add(Request::high(key("a")), now);
        state.add(
            Request::normal(RequestKey::Group(ObjectKey::new("ns", "g"))),
            now,
        );
        state.take(now, &unlimited);
        state.take(now, &unlimited);
        state.done(key("b"), &failed(None), now, 0.0);
        assert_eq!(
            state.sizes(),
            [
                ("LoadBalancerDriver", 0, 0),
                ("LoadBalancer", 0, 0),
                ("BackendGroup", 1, 0),
                ("BackendRecord", 1, 1),
                ("Bind", 0, 0),
                ("Pod", 0, 0),
                ("Service", 0, 0),
            ],
            "requests that wait for a retry are neither"
        );
    }

    #[test]
    fn every_key_is_of_a_kind_that_is_counted() {
        let name = ObjectKey::new("ns", "a");
        for key in [
            RequestKey::Driver(name.clone()),
            RequestKey::LoadBalancer(name.clone()),
            RequestKey::Service(name.clone()),
            RequestKey::Group(name.clone()),
            RequestKey::Record(name),
        ] {
            assert!(RequestKey::KINDS.contains(&key.kind()), "{key}");
        }
    }

    #[test]
    fn batched_requests_are_collected() {
        let (mut state, now) = (state(), Instant::now());
        for _ in 0..3 {
            state.add(Request::batched(key("a")), now);
        }
        assert_eq!(state.take(now, &unlimited), None);
        assert_eq!(state.take(now + BATCH_DELAY, &unlimited), Some(key("a")));
        state.add(Request::batched(key("a")), now + BATCH_DELAY);
        state.done(key("a"), &Ok(Action::AwaitChange), now + BATCH_DELAY, 0.0);
        assert_eq!(state.take(now + BATCH_DELAY, &unlimited), None);
        assert_eq!(
            state.take(now + BATCH_DELAY * 2, &unlimited),
            Some(key("a"))
        );
    }

    /// Requests whose names begin with `slow` call one driver, which takes two calls at a time.
    fn slow_driver(key: &RequestKey) -> ConcurrencyLimits {
        let driver = ConcurrencyKey::Driver(ObjectKey::new("kube-system", "slow"));
        let is_slow = key.object().name.starts_with("slow");
        is_slow.then_some((driver, 2)).into_iter().collect()
    }

    #[test]
    fn u39_thousands_of_polled_requests_are_all_taken_when_they_are_due() {
        let (mut state, now) = (state(), Instant::now());
        let second = Duration::from_secs(1);
        for number in 0..5000 {
            state.add(Request::normal(key(&number.to_string())), now);
        }
        while let Some(key) = state.take(now, &unlimited) {
            state.done(key, &Ok(Action::RequeueAfter(second)), now, 0.0);
        }
        let due = std::iter::from_fn(|| state.take(now + second, &unlimited));
        assert_eq!(due.count(), 5000);
    }

    #[test]
    fn u38_a_busy_driver_delays_no_other() {
        let (mut state, now) = (state(), Instant::now());
        for name in ["slow-1", "slow-2", "slow-3", "slow-4", "other"] {
            state.add(Request::normal(key(name)), now);
        }
        let order: Vec<_> = std::iter::from_fn(|| state.take(now, &slow_driver)).collect();
        assert_eq!(order, [key("slow-1"), key("slow-2"), key("other")]);
        state.done(key("slow-1"), &Ok(Action::AwaitChange), now, 0.0);
        assert_eq!(state.take(now, &slow_driver), Some(key("slow-3")));
        assert_eq!(state.take(now, &slow_driver), None);
        for name in ["slow-2", "slow-3"] {
            state.done(key(name), &Ok(Action::AwaitChange), now, 0.0);
        }
        assert_eq!(state.take(now, &slow_driver), Some(key("slow-4")));
        assert_eq!(state.take(now, &slow_driver), None);
        state.done(key("slow-4"), &Ok(Action::AwaitChange), now, 0.0);
        state.done(key("other"), &Ok(Action::AwaitChange), now, 0.0);
        assert!(state.concurrency.is_empty(), "nothing is left behind");
    }

    #[test]
    fn high_priority_also_comes_first_among_requests_that_wait_for_a_slot() {
        let (mut state, now) = (state(), Instant::now());
        for name in ["slow-1", "slow-2", "slow-3", "slow-4"] {
            state.add(Request::normal(key(name)), now);
        }
        while state.take(now, &slow_driver).is_some() {}
        state.add(Request::high(key("slow-4")), now);
        assert_eq!(state.take(now, &slow_driver), None);
        state.done(key("slow-1"), &Ok(Action::AwaitChange), now, 0.0);
        assert_eq!(state.take(now, &slow_driver), Some(key("slow-4")));
        state.done(key("slow-2"), &Ok(Action::AwaitChange), now, 0.0);
        assert_eq!(state.take(now, &slow_driver), Some(key("slow-3")));
        assert_eq!(state.take(now, &slow_driver), None, "slow-4 is taken once");
    }

    #[test]
    fn a_request_frees_the_slots_that_it_took_even_if_its_keys_changed() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Request::normal(key("slow-1")), now);
        state.take(now, &slow_driver);
        state.done(key("slow-1"), &Ok(Action::RequeueNow), now, 0.0);
        assert_eq!(state.take(now, &unlimited), Some(key("slow-1")));
        assert!(state.concurrency.is_empty());
    }

    #[test]
    fn a_write_to_an_outdated_object_is_no_failure() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Request::normal(key("a")), now);
        state.take(now, &unlimited);
        state.done(key("a"), &Err(WriteError::Stale.into()), now, 0.0);
        assert_eq!(state.next_due(), Some(now + Duration::from_millis(200)));
        assert_eq!(state.retry_delay(&key("a"), 0.0), Duration::from_secs(10));
    }

    #[test]
    fn d35_conflicts_in_a_row_back_off() {
        let (mut state, mut now) = (state(), Instant::now());
        state.add(Request::normal(key("a")), now);
        let mut conflict = |state: &mut State| {
            state.take(now, &unlimited).unwrap();
            state.done(key("a"), &Err(WriteError::Stale.into()), now, 0.0);
            let due = state.next_due().unwrap();
            let delay = due - now;
            now = due;
            delay.as_millis()
        };
        let delays: Vec<_> = (0..12).map(|_| conflict(&mut state)).collect();
        assert_eq!(delays[..4], [200, 400, 800, 1600]);
        assert_eq!(delays[10..], [120_000, 120_000]);
        state.take(now, &unlimited).unwrap();
        state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
        assert!(state.conflicts.is_empty(), "nothing is left behind");
    }

    #[test]
    fn b159_a_slot_that_a_waiting_request_no_longer_needs_goes_to_the_next_one() {
        let (mut state, now) = (state(), Instant::now());
        let driver = ConcurrencyKey::Driver(ObjectKey::new("kube-system", "driver"));
        let serial = ConcurrencyKey::LoadBalancer(ObjectKey::default(), [("id", "1")].into());
        let both = |_: &RequestKey| vec![(serial.clone(), 1), (driver.clone(), 2)];
        for name in ["a", "b", "c"] {
            state.add(Request::normal(key(name)), now);
        }
        assert_eq!(state.take(now, &both), Some(key("a")));
        assert_eq!(state.take(now, &both), None);
        state.done(key("a"), &Ok(Action::AwaitChange), now, 0.0);
        let moved = |request: &RequestKey| {
            let mut limits = both(request);
            limits.retain(|_| &*request.object().name != "b");
            limits
        };
        assert_eq!(state.take(now, &moved), Some(key("b")));
        assert_eq!(state.take(now, &moved), Some(key("c")));
        state.done(key("b"), &Ok(Action::AwaitChange), now, 0.0);
        state.done(key("c"), &Ok(Action::AwaitChange), now, 0.0);
        assert!(state.concurrency.is_empty());
    }
}
