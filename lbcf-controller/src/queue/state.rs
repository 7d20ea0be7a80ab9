//! The queue's rules, without locks and with the time as an argument.

use super::Backoff;
use super::lanes::{Lane, Lanes};
use crate::key::WorkKey;
use crate::work::{Progress, Urgency, Work};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// How long work that can be done together is gathered.
const GATHER: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct State {
    backoff: Backoff,
    first: VecDeque<WorkKey>,
    in_turn: VecDeque<WorkKey>,
    /// What stands in `first` or `in_turn`.
    queued: HashMap<WorkKey, Urgency>,
    /// What is worked on, and in which lane.
    running: HashMap<WorkKey, Option<Lane>>,
    lanes: Lanes,
    /// What was added while it was running.
    again: HashMap<WorkKey, Urgency>,
    /// What waits for a time. The number tells equal times apart.
    timers: BTreeMap<(Instant, u64), WorkKey>,
    timer_of: HashMap<WorkKey, (Instant, u64)>,
    timers_set: u64,
    failures: HashMap<WorkKey, u32>,
}

impl State {
    pub(super) fn new(backoff: Backoff) -> Self {
        Self {
            backoff,
            first: VecDeque::new(),
            in_turn: VecDeque::new(),
            queued: HashMap::new(),
            running: HashMap::new(),
            lanes: Lanes::default(),
            again: HashMap::new(),
            timers: BTreeMap::new(),
            timer_of: HashMap::new(),
            timers_set: 0,
            failures: HashMap::new(),
        }
    }

    pub(super) fn add(&mut self, work: Work, now: Instant) {
        let Work { key, urgency } = work;
        if self.running.contains_key(&key) {
            let again = self.again.entry(key).or_insert(urgency);
            *again = (*again).max(urgency);
        } else if urgency == Urgency::Soon {
            if !self.queued.contains_key(&key) {
                self.set_timer(key, now + GATHER);
            }
        } else {
            self.push(key, urgency);
        }
    }

    /// The next key whose lane has a place. `lane_of` says which lane a key needs and how many may
    /// be in it.
    pub(super) fn take(
        &mut self,
        now: Instant,
        lane_of: impl Fn(&WorkKey) -> Option<(Lane, usize)>,
    ) -> Option<WorkKey> {
        while let Some(entry) = self.timers.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            self.timer_of.remove(&key);
            self.push(key, Urgency::InTurn);
        }
        // A key that became urgent while it stood in the ordinary line stands in both; the second
        // place is passed over.
        loop {
            let key = self
                .first
                .pop_front()
                .or_else(|| self.in_turn.pop_front())?;
            let Some(urgency) = self.queued.get(&key).copied() else {
                continue;
            };
            let lane = lane_of(&key);
            if let Some((lane, limit)) = &lane
                && !self.lanes.enter(lane, *limit)
            {
                self.lanes.wait(lane, key, urgency == Urgency::First);
                continue;
            }
            self.queued.remove(&key);
            self.running.insert(key.clone(), lane.map(|(lane, _)| lane));
            return Some(key);
        }
    }

    pub(super) fn sizes(&self) -> Vec<(&'static str, usize, usize)> {
        let mut sizes = WorkKey::KINDS.map(|kind| (kind, 0, 0));
        for (kind, pending, working) in &mut sizes {
            *pending = self.queued.keys().filter(|key| key.kind() == *kind).count();
            *working = self
                .running
                .keys()
                .filter(|key| key.kind() == *kind)
                .count();
        }
        sizes.to_vec()
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.timers.first_key_value().map(|((due, _), _)| *due)
    }

    pub(super) fn retry_delay(&self, key: &WorkKey, jitter: f64) -> Duration {
        let failures = self.failures.get(key).copied().unwrap_or(0);
        self.backoff.after(failures.saturating_add(1), jitter)
    }

    pub(super) fn done(&mut self, key: WorkKey, progress: Progress, now: Instant, jitter: f64) {
        if let Some(Some(lane)) = self.running.remove(&key) {
            self.lanes.leave(&lane);
            self.call_next(&lane);
        }
        let wait = match progress {
            Progress::Again => Some(Duration::ZERO),
            Progress::Settled => None,
            Progress::After(delay) => Some(delay),
            Progress::Retry(delay) => {
                let failures = self.failures.entry(key.clone()).or_default();
                *failures = failures.saturating_add(1);
                Some(delay.unwrap_or_else(|| self.backoff.after(*failures, jitter)))
            }
        };
        if !matches!(progress, Progress::Retry(_)) {
            self.failures.remove(&key);
        }
        if let Some(urgency) = self.again.remove(&key) {
            self.add(
                Work {
                    key: key.clone(),
                    urgency,
                },
                now,
            );
            if urgency != Urgency::Soon {
                return;
            }
        }
        match wait {
            Some(Duration::ZERO) => self.push(key, Urgency::InTurn),
            Some(wait) => self.set_timer(key, now + wait),
            None => {}
        }
    }

    /// Puts the next key that waited for a lane at the head of its line.
    fn call_next(&mut self, lane: &Lane) {
        while let Some(key) = self.lanes.next(lane) {
            match self.queued.get(&key) {
                Some(Urgency::First) => self.first.push_front(key),
                Some(_) => self.in_turn.push_front(key),
                // It was called earlier, from another line.
                None => continue,
            }
            return;
        }
    }

    fn push(&mut self, key: WorkKey, urgency: Urgency) {
        if let Some(timer) = self.timer_of.remove(&key) {
            self.timers.remove(&timer);
        }
        let line = if urgency == Urgency::First {
            &mut self.first
        } else {
            &mut self.in_turn
        };
        match self.queued.get_mut(&key) {
            Some(queued) if *queued >= urgency => {}
            Some(queued) => {
                *queued = urgency;
                line.push_back(key);
            }
            None => {
                self.queued.insert(key.clone(), urgency);
                line.push_back(key);
            }
        }
    }

    /// Sets a key's timer, unless an earlier one is set.
    fn set_timer(&mut self, key: WorkKey, due: Instant) {
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
    use crate::key::ObjectKey;

    fn key(name: &str) -> WorkKey {
        WorkKey::Record(ObjectKey::new("ns", name))
    }

    fn no_lane(_: &WorkKey) -> Option<(Lane, usize)> {
        None
    }

    fn state() -> State {
        State::new(Backoff::default())
    }

    #[test]
    fn b135_a_key_is_never_worked_on_twice_at_a_time() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Work::in_turn(key("a")), now);
        state.add(Work::in_turn(key("a")), now);
        assert_eq!(state.take(now, no_lane), Some(key("a")));
        state.add(Work::in_turn(key("a")), now);
        assert_eq!(state.take(now, no_lane), None, "it is being worked on");
        state.done(key("a"), Progress::Settled, now, 0.0);
        assert_eq!(
            state.take(now, no_lane),
            Some(key("a")),
            "it was added meanwhile"
        );
        state.done(key("a"), Progress::Settled, now, 0.0);
        assert_eq!(state.take(now, no_lane), None);
    }

    #[test]
    fn u42_what_takes_away_comes_before_what_adds() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Work::in_turn(key("add")), now);
        state.add(Work::in_turn(key("both")), now);
        state.add(Work::first(key("take")), now);
        state.add(Work::first(key("both")), now);
        let order: Vec<_> = std::iter::from_fn(|| state.take(now, no_lane)).collect();
        assert_eq!(order, [key("take"), key("both"), key("add")]);
    }

    #[test]
    fn b136_d22_failures_wait_longer_each_time_and_a_success_forgets_them() {
        let (mut state, mut now) = (state(), Instant::now());
        state.add(Work::in_turn(key("a")), now);
        for seconds in [10, 20, 40] {
            assert_eq!(state.take(now, no_lane), Some(key("a")));
            state.done(key("a"), Progress::Retry(None), now, 0.0);
            assert_eq!(state.next_due(), Some(now + Duration::from_secs(seconds)));
            now += Duration::from_secs(seconds);
        }
        assert_eq!(state.take(now, no_lane), Some(key("a")));
        state.done(key("a"), Progress::After(Duration::from_secs(1)), now, 0.0);
        now += Duration::from_secs(1);
        assert_eq!(state.take(now, no_lane), Some(key("a")));
        state.done(key("a"), Progress::Retry(None), now, 0.0);
        assert_eq!(state.next_due(), Some(now + Duration::from_secs(10)));
    }

    #[test]
    fn d22_a_drivers_own_delay_is_kept_exactly() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Work::in_turn(key("a")), now);
        state.take(now, no_lane);
        let asked = Duration::from_secs(300);
        state.done(key("a"), Progress::Retry(Some(asked)), now, 1.0);
        assert_eq!(state.next_due(), Some(now + asked));
    }

    #[test]
    fn a_change_of_the_object_ends_the_wait() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Work::in_turn(key("a")), now);
        state.take(now, no_lane);
        state.done(key("a"), Progress::Retry(None), now, 0.0);
        assert_eq!(state.take(now, no_lane), None);
        state.add(Work::in_turn(key("a")), now);
        assert_eq!(state.take(now, no_lane), Some(key("a")));
        assert_eq!(state.next_due(), None, "the timer is gone with it");
    }

    #[test]
    fn b143_b144_sizes_are_told_by_kind() {
        let (mut state, now) = (state(), Instant::now());
        for name in ["a", "b", "c"] {
            state.add(Work::in_turn(key(name)), now);
        }
        state.add(Work::first(key("a")), now);
        state.add(
            Work::in_turn(WorkKey::Group(ObjectKey::new("ns", "g"))),
            now,
        );
        state.take(now, no_lane);
        state.take(now, no_lane);
        state.done(key("b"), Progress::Retry(None), now, 0.0);
        assert_eq!(
            state.sizes(),
            [
                ("LoadBalancerDriver", 0, 0),
                ("LoadBalancer", 0, 0),
                ("BackendGroup", 1, 0),
                ("BackendRecord", 1, 1),
                ("Bind", 0, 0),
            ],
            "what waits for its retry is neither"
        );
    }

    #[test]
    fn every_key_is_of_a_kind_that_is_counted() {
        let name = ObjectKey::new("ns", "a");
        for key in [
            WorkKey::Driver(name.clone()),
            WorkKey::LoadBalancer(name.clone()),
            WorkKey::Group(name.clone()),
            WorkKey::Record(name),
        ] {
            assert!(WorkKey::KINDS.contains(&key.kind()), "{key}");
        }
    }

    #[test]
    fn counts_are_gathered_and_do_not_shorten_a_wait_beyond_that() {
        let (mut state, now) = (state(), Instant::now());
        for _ in 0..3 {
            state.add(Work::soon(key("a")), now);
        }
        assert_eq!(state.take(now, no_lane), None);
        assert_eq!(state.take(now + GATHER, no_lane), Some(key("a")));
        state.add(Work::soon(key("a")), now + GATHER);
        state.done(key("a"), Progress::Settled, now + GATHER, 0.0);
        assert_eq!(state.take(now + GATHER, no_lane), None);
        assert_eq!(state.take(now + GATHER * 2, no_lane), Some(key("a")));
    }

    /// Keys whose names begin with `slow` belong to one driver, which takes two at a time.
    fn slow_lane(key: &WorkKey) -> Option<(Lane, usize)> {
        let lane = Lane::Driver(ObjectKey::new("kube-system", "slow"));
        key.object().name.starts_with("slow").then_some((lane, 2))
    }

    #[test]
    fn u39_thousands_that_are_polled_all_come_when_their_time_is_there() {
        let (mut state, now) = (state(), Instant::now());
        let second = Duration::from_secs(1);
        for number in 0..5000 {
            state.add(Work::in_turn(key(&number.to_string())), now);
        }
        while let Some(key) = state.take(now, no_lane) {
            state.done(key, Progress::After(second), now, 0.0);
        }
        let due = std::iter::from_fn(|| state.take(now + second, no_lane));
        assert_eq!(due.count(), 5000);
    }

    #[test]
    fn u38_a_driver_that_is_busy_holds_up_no_other() {
        let (mut state, now) = (state(), Instant::now());
        for name in ["slow-1", "slow-2", "slow-3", "slow-4", "other"] {
            state.add(Work::in_turn(key(name)), now);
        }
        let order: Vec<_> = std::iter::from_fn(|| state.take(now, slow_lane)).collect();
        assert_eq!(order, [key("slow-1"), key("slow-2"), key("other")]);
        state.done(key("slow-1"), Progress::Settled, now, 0.0);
        assert_eq!(state.take(now, slow_lane), Some(key("slow-3")));
        assert_eq!(state.take(now, slow_lane), None);
        for name in ["slow-2", "slow-3"] {
            state.done(key(name), Progress::Settled, now, 0.0);
        }
        assert_eq!(state.take(now, slow_lane), Some(key("slow-4")));
        assert_eq!(state.take(now, slow_lane), None);
        state.done(key("slow-4"), Progress::Settled, now, 0.0);
        state.done(key("other"), Progress::Settled, now, 0.0);
        assert!(state.lanes.is_empty(), "nothing is kept of it");
    }

    #[test]
    fn what_takes_away_comes_first_in_a_lane_too_even_if_it_waited_already() {
        let (mut state, now) = (state(), Instant::now());
        for name in ["slow-1", "slow-2", "slow-3", "slow-4"] {
            state.add(Work::in_turn(key(name)), now);
        }
        while state.take(now, slow_lane).is_some() {}
        state.add(Work::first(key("slow-4")), now);
        assert_eq!(state.take(now, slow_lane), None);
        state.done(key("slow-1"), Progress::Settled, now, 0.0);
        assert_eq!(state.take(now, slow_lane), Some(key("slow-4")));
        state.done(key("slow-2"), Progress::Settled, now, 0.0);
        assert_eq!(state.take(now, slow_lane), Some(key("slow-3")));
        assert_eq!(state.take(now, slow_lane), None, "slow-4 is taken once");
    }

    #[test]
    fn a_key_that_changed_its_lane_frees_the_one_that_it_was_in() {
        let (mut state, now) = (state(), Instant::now());
        state.add(Work::in_turn(key("slow-1")), now);
        state.take(now, slow_lane);
        // The lane that was entered is left, whatever the key belongs to by then.
        state.done(key("slow-1"), Progress::Again, now, 0.0);
        assert_eq!(state.take(now, no_lane), Some(key("slow-1")));
        assert!(state.lanes.is_empty());
    }
}
