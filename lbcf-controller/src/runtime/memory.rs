//! The little that is kept in memory of each request, because it ends within a moment and is not worth a
//! write, or because the wall clock cannot tell it.
//!
//! After a start what was stored applies again, and the rest starts from the beginning: grace periods, for example,
//! last the whole time again.

mod brake;
mod creation;
mod pause;
mod room;

pub(crate) use brake::{Brake, Limits};
pub(crate) use room::{Room, RoomAction};

use crate::api::{Condition, ConditionStatus, EnsurePolicy, EnsurePolicyType, LoadBalancerDriver};
use crate::index::{Owner, RequestKey, Unit};
use crate::process::backoff::{jitter, spread};
use crate::process::lock::Mutex;
use crate::process::options::Options;
use crate::process::wall_clock::WallClock;
use crate::runtime::outcome::Action;
use jiff::{SignedDuration, Timestamp};
use lbcf_driver_sdk::webhook::{OperationRequest, Webhook};
use lbcf_serving::duration;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use tokio::time::Instant;

/// The greatest difference between the clocks of two replicas.
const SKEW: SignedDuration = SignedDuration::from_mins(1);

/// The period of `Always` if a policy sets none.
const DEFAULT_PERIOD: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Memory {
    notes: Mutex<HashMap<RequestKey, Notes>>,
    wall_clock: WallClock,
    status_interval: Duration,
    /// True if everything is due once after the start, also what has no period.
    ensures_at_start: bool,
}

#[derive(Debug, Default, PartialEq)]
struct Notes {
    /// The reason of its wait, or the webhook that responds `Running`, and since when.
    wait: Option<(&'static str, Timestamp, Instant)>,
    /// The last call about it that has to wait, and until when.
    delayed_call: Option<(CallDigest, Instant)>,
    /// The stored time at which a failed call is tried again, and when that is.
    retry: Option<(String, Instant)>,
    /// When it is ensured although nothing changed.
    due: Option<Instant>,
    is_ensured_since_start: bool,
    /// True if this process has stored that creating begins, and no driver has got a call since.
    is_creation_unreceived: bool,
    /// When its status with counts was written last.
    status_written: Option<Instant>,
    /// Since when an owner has backends that are not registered.
    registering: Option<Instant>,
    /// Since when the record is known to have no owner.
    ownerless: Option<Instant>,
    /// Since when the record's deletion waits for another record.
    superseded: Option<Instant>,
    /// Since when backends of the owner are being replaced; `Some(None)` if this process has ended that.
    replacing: Option<Option<Instant>>,
    /// Backends of the owner that became unready.
    brake: Option<Box<Brake>>,
    /// Those of the owner for which there is no room until others have left.
    room: Room,
    /// Until when the driver is not called, and the object that is called about all the same.
    paused: Option<(Instant, Option<RequestKey>)>,
    /// Since when addresses of the owner are in no EndpointSlice.
    absent: BTreeMap<Unit, Instant>,
}

/// A call without what differs between its repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallDigest(u64);

impl CallDigest {
    pub(crate) fn of<W>(driver: &LoadBalancerDriver, request: &W) -> Self
    where
        W: Webhook + OperationRequest,
    {
        let mut hasher = DefaultHasher::new();
        (W::INFO.name, &driver.metadata.uid, &driver.spec.url).hash(&mut hasher);
        driver.metadata.generation.hash(&mut hasher);
        let content = serde_json::to_vec(&request.clone().without_retry_id());
        content.unwrap_or_default().hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The period of a policy, at least `min`; none if it is not `Always`. An invalid duration, which
/// admission rejects, counts as absent.
pub(crate) fn period(policy: Option<&EnsurePolicy>, min: Duration) -> Option<Duration> {
    let policy = policy?;
    (policy.policy == EnsurePolicyType::Always).then(|| {
        let period = policy.min_period.as_deref();
        let period = period.and_then(|text| duration::parse(text).ok());
        period.unwrap_or(DEFAULT_PERIOD).max(min)
    })
}

/// When an object is ensured although nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Never,
    In(Duration),
    Now,
}

impl Due {
    /// The action if nothing else is left to do.
    pub(crate) const fn action(self) -> Action {
        match self {
            Self::Never | Self::Now => Action::AwaitChange,
            Self::In(wait) => Action::RequeueAfter(wait),
        }
    }
}

/// Since when an object waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since {
    pub at: Timestamp,
    pub lasted: Duration,
}

impl Memory {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            notes: Mutex::default(),
            wall_clock: options.wall_clock.clone(),
            status_interval: options.status_interval,
            ensures_at_start: options.ensure_at_start,
        }
    }

    fn with<R>(&self, key: &RequestKey, change: impl FnOnce(&mut Notes) -> R) -> R {
        let mut all = self.notes.lock();
        let notes = all.entry(key.clone()).or_default();
        let result = change(notes);
        if *notes == Notes::default() {
            all.remove(key);
        }
        result
    }

    pub(crate) fn remove(&self, key: &RequestKey) {
        self.notes.lock().remove(key);
    }

    /// Begins an object's wait, unless it waits for the same already, and returns since when it
    /// does. `stored` is when it began according to an earlier process.
    pub(crate) fn begin_wait(
        &self,
        key: &RequestKey,
        what: &'static str,
        stored: Option<Timestamp>,
    ) -> Since {
        let now = Instant::now();
        self.with(key, |notes| {
            let known = notes.wait.filter(|(known, ..)| *known == what);
            let began = known.unwrap_or_else(|| {
                let at = self.wall_clock.now();
                let earlier = stored.and_then(|stored| {
                    let lasted = Duration::try_from(at.duration_since(stored)).ok()?;
                    Some((what, stored, now.checked_sub(lasted)?))
                });
                earlier.unwrap_or((what, at, now))
            });
            notes.wait = Some(began);
            let (_, at, since) = began;
            let lasted = now.duration_since(since);
            Since { at, lasted }
        })
    }

    /// Ends an object's wait; returns whether it waited.
    pub(crate) fn end_wait(&self, key: &RequestKey) -> bool {
        self.with(key, |notes| notes.wait.take()).is_some()
    }

    /// Delays a call by the delay of the driver's response, which is kept exactly, or by the poll interval.
    pub(crate) fn delay_call(&self, key: &RequestKey, call: CallDigest, delay: Duration) {
        if let Some(until) = Instant::now().checked_add(delay) {
            self.with(key, |notes| notes.delayed_call = Some((call, until)));
        }
    }

    /// The time that a call about an object still has to wait. `call` is computed only where the last one was
    /// delayed.
    ///
    /// An event may enqueue an object again although the call in flight has what the event reports. So the
    /// delay does not hold for the object, but for a call: one with another request, or to a driver that was
    /// changed, is made at once.
    pub(crate) fn call_delay(
        &self,
        key: &RequestKey,
        call: impl FnOnce() -> CallDigest,
    ) -> Option<Duration> {
        self.with(key, |notes| {
            let (delayed, until) = notes.delayed_call?;
            let delay = left_until(until).filter(|_| delayed == call());
            if delay.is_none() {
                notes.delayed_call = None;
            }
            delay
        })
    }

    /// Remembers the time of a retry that this process stores.
    pub(crate) fn set_retry(&self, key: &RequestKey, stored: &str, delay: Duration) {
        if let Some(until) = Instant::now().checked_add(delay) {
            self.with(key, |notes| notes.retry = Some((stored.to_owned(), until)));
        }
    }

    /// The time until a stored time, by a clock that does not jump. `wall` is what the wall clock says, and
    /// `conditions` are those that were stored with the time.
    ///
    /// A Bind's `retryAfter` is wall-clock time, so that it binds the next process too. Each process translates
    /// it once, when it stores or first reads it: a wall clock that is set back by a day would delay the retry
    /// by a day, and one that is set forward would end every delay.
    pub(crate) fn retry_in(
        &self,
        key: &RequestKey,
        stored: &str,
        conditions: &[Condition],
        wall: Timestamp,
    ) -> Option<Duration> {
        self.with(key, |notes| match &notes.retry {
            Some((known, until)) if known == stored => left_until(*until),
            _ => {
                let wait = delay_of_other_process(stored, conditions, wall).unwrap_or_default();
                let until = Instant::now().checked_add(wait)?;
                notes.retry = Some((stored.to_owned(), until));
                left_until(until)
            }
        })
    }

    /// When an object is due to be ensured. After a start objects become due one by one within a period, not
    /// all at once.
    pub(crate) fn due(&self, key: &RequestKey, period: Option<Duration>) -> Due {
        self.with(key, |notes| {
            if self.ensures_at_start && !notes.is_ensured_since_start {
                return Due::Now;
            }
            let Some(period) = period else {
                return Due::Never;
            };
            let now = Instant::now();
            let due = notes.due.unwrap_or_else(|| now + period.mul_f64(jitter()));
            // A period that was shortened applies from now on.
            let due = due.min(now + period.mul_f64(1.1));
            notes.due = Some(due);
            left_until(due).map_or(Due::Now, Due::In)
        })
    }

    /// Starts an object's next period, if it has one.
    pub(crate) fn ensured(&self, key: &RequestKey, period: Option<Duration>) -> Due {
        let wait = period.map(spread);
        self.with(key, |notes| {
            notes.is_ensured_since_start = self.ensures_at_start;
            notes.due = wait.map_or(notes.due, |wait| Some(Instant::now() + wait));
        });
        wait.map_or(Due::Never, Due::In)
    }

    /// Brings forward when an object is due; returns false for one that is sooner, or has no period.
    pub(crate) fn ensure_within(&self, key: &RequestKey, time: Duration) -> bool {
        let until = Instant::now() + time;
        self.with(key, |notes| {
            let is_later = notes.due.is_some_and(|due| due > until);
            if is_later {
                notes.due = Some(until);
            }
            is_later
        })
    }

    /// The time until a status with counts can be written.
    pub(crate) fn status_wait(&self, key: &RequestKey) -> Option<Duration> {
        self.with(key, |notes| {
            left_until(notes.status_written? + self.status_interval)
        })
    }

    /// Notes that an owner registers backends.
    pub(crate) fn begin_registering(&self, key: &RequestKey) {
        self.with(key, |notes| {
            notes.registering.get_or_insert_with(Instant::now);
        });
    }

    /// Since when it has, if it was.
    pub(crate) fn end_registering(&self, key: &RequestKey) -> Option<Duration> {
        let since = self.with(key, |notes| notes.registering.take())?;
        Some(since.elapsed())
    }

    pub(crate) fn note_status_write(&self, key: &RequestKey) {
        self.with(key, |notes| notes.status_written = Some(Instant::now()));
    }

    /// The rest of the time that a record waits for an owner, which begins when it is found without one.
    pub(crate) fn owner_wait(
        &self,
        record: &RequestKey,
        is_ownerless: bool,
        grace_period: Duration,
    ) -> Duration {
        self.with(record, |notes| {
            rest_of(&mut notes.ownerless, is_ownerless, grace_period)
        })
    }

    /// The rest of the time that a record's deletion waits for another record, which begins when that is found.
    pub(crate) fn successor_wait(
        &self,
        record: &RequestKey,
        has_successor: bool,
        timeout: Duration,
    ) -> Duration {
        self.with(record, |notes| {
            rest_of(&mut notes.superseded, has_successor, timeout)
        })
    }

    /// The time since the replacement of an owner's backends began. `stored` is when that began according to an earlier
    /// process.
    pub(crate) fn replacing(&self, owner: &RequestKey, stored: Option<Timestamp>) -> Duration {
        let now = Instant::now();
        let lasted = |stored| Duration::try_from(self.wall_clock.now().duration_since(stored));
        self.with(owner, |notes| {
            let stored = stored.filter(|_| notes.replacing.is_none());
            let earlier = stored.and_then(|stored| now.checked_sub(lasted(stored).ok()?));
            let known = notes.replacing.flatten();
            let since = known.or(earlier).unwrap_or(now);
            notes.replacing = Some(Some(since));
            now.duration_since(since)
        })
    }

    pub(crate) fn end_replacement(&self, owner: &RequestKey) {
        self.with(owner, |notes| {
            notes.replacing = notes.replacing.map(|_| None);
        });
    }

    /// The brake of an owner's backends; none if none has become unready.
    pub(crate) fn brake<R>(
        &self,
        owner: &RequestKey,
        change: impl FnOnce(&mut Option<Box<Brake>>) -> R,
    ) -> R {
        self.with(owner, |notes| change(&mut notes.brake))
    }

    pub(crate) fn room<R>(&self, owner: &RequestKey, change: impl FnOnce(&mut Room) -> R) -> R {
        self.with(owner, |notes| change(&mut notes.room))
    }

    /// The rest of the time that a unit without an endpoint is waited for: one that moves to another slice is
    /// in neither for a moment if the slices are written one after the other.
    pub(crate) fn absence(&self, owner: &Owner, unit: &Unit, grace_period: Duration) -> Duration {
        self.with(&owner.request_key(), |notes| {
            let since = notes.absent.entry(Unit::clone(unit));
            grace_period.saturating_sub(since.or_insert_with(Instant::now).elapsed())
        })
    }

    /// Ends the wait for a unit that is back, or has no records any more.
    pub(crate) fn end_absence(&self, owner: &Owner, unit: &Unit) {
        self.with(&owner.request_key(), |notes| notes.absent.remove(unit));
    }

    pub(crate) fn end_absences(&self, owner: &Owner) {
        self.with(&owner.request_key(), |notes| notes.absent.clear());
    }

    /// The units whose time is over, and how much is left of that of the next one.
    pub(crate) fn ended_absences(
        &self,
        owner: &Owner,
        grace_period: Duration,
    ) -> (BTreeSet<Unit>, Option<Duration>) {
        self.with(&owner.request_key(), |notes| {
            let left = |since: &Instant| grace_period.saturating_sub(since.elapsed());
            let absent = notes.absent.iter();
            let absent = absent.map(|(unit, since)| (unit, left(since)));
            let (over, waiting): (Vec<_>, Vec<_>) = absent.partition(|(_, left)| left.is_zero());
            let over = over.into_iter().map(|(unit, _)| Unit::clone(unit));
            (
                over.collect(),
                waiting.into_iter().map(|(_, left)| left).min(),
            )
        })
    }
}

/// The rest of a time that begins when this is first called with `is_waiting`.
fn rest_of(began: &mut Option<Instant>, is_waiting: bool, time: Duration) -> Duration {
    let since = began.filter(|_| is_waiting);
    *began = is_waiting.then(|| since.unwrap_or_else(Instant::now));
    since.map_or(time, |since| time.saturating_sub(since.elapsed()))
}

/// None if the time has come.
fn left_until(time: Instant) -> Option<Duration> {
    let left = time.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}

/// The rest of a delay that another process stored; none if the clock was set back since, or was
/// wrong when it was stored: then the failure has not happened yet. So a delay is never longer than the
/// failure has lasted, and what it was.
fn delay_of_other_process(
    stored: &str,
    conditions: &[Condition],
    wall: Timestamp,
) -> Option<Duration> {
    let at: Timestamp = stored.parse().ok()?;
    let is_in_future = |condition: &Condition| {
        let began = condition.since()?;
        Some(began.duration_since(wall) > SKEW)
    };
    let mut failed = conditions
        .iter()
        .filter(|condition| condition.status != ConditionStatus::True);
    if failed.any(|condition| is_in_future(condition) == Some(true)) {
        return None;
    }
    Duration::try_from(at.duration_since(wall)).ok()
}

#[cfg(test)]
mod tests;
