//! Which events are recorded: what lasts is recorded once and from time to time.

use super::queue::{EventQueue, Importance};
use super::rates::EventRates;
use super::writer::{EventWriter, truncated};
use super::{AGGREGATION_PERIOD, EventRecord, EventType, Regarding};
use crate::api::ObjectKey;
use crate::api::reasons::ReportReason;
use crate::cluster::wait::{Wait, WaitEvent};
use crate::index::RequestKey;
use crate::process::leader::LeaseGuard;
use crate::process::lock::Mutex;
use crate::process::metrics::Metrics;
use crate::process::options::Options;
use crate::process::wall_clock::WallClock;
use EventType::{Normal, Warning};
use kube::Client;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The last report about an object or part.
#[derive(Debug)]
struct LastEvent {
    uid: Option<String>,
    reason: &'static ReportReason,
    /// An event with another subject is no repetition.
    subject: String,
    at: Instant,
    /// Its occurrences since, without an event.
    suppressed: i32,
}

/// Of an object's parts, and of what each reports: its waits or its operations.
type EventsByPart = HashMap<(String, bool), LastEvent>;

struct NewEvent<'a> {
    event_type: EventType,
    reason: &'static ReportReason,
    message: &'a str,
    /// An event with another subject is no repetition.
    subject: &'a str,
    is_wait: bool,
    /// When an equal event is recorded again.
    repeat: Option<Duration>,
}

impl<'a> NewEvent<'a> {
    const fn new(event_type: EventType, reason: &'static ReportReason, message: &'a str) -> Self {
        Self {
            event_type,
            reason,
            message,
            subject: message,
            is_wait: false,
            repeat: None,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    queue: Arc<EventQueue>,
    metrics: Metrics,
    dry_run: bool,
    repeat: Duration,
    wall_clock: WallClock,
    last: Arc<Mutex<HashMap<(String, ObjectKey), EventsByPart>>>,
    rates: Arc<Mutex<EventRates>>,
}

impl Recorder {
    /// A recorder, and the task that writes what it records.
    pub(crate) fn new(
        client: Client,
        options: &Options,
        guard: LeaseGuard,
        metrics: Metrics,
    ) -> (Self, EventWriter) {
        let (queue, waiting) = EventQueue::new();
        let recorder = Self {
            queue: Arc::new(queue),
            metrics,
            dry_run: options.dry_run,
            repeat: options.event_repeat,
            wall_clock: options.wall_clock.clone(),
            last: Arc::default(),
            rates: Arc::new(Mutex::new(EventRates::new(Instant::now()))),
        };
        let writer = EventWriter::new(client, guard, recorder.metrics.clone(), waiting);
        (recorder, writer)
    }

    /// Records an event of an operation unless it repeats the last one of the object or part.
    /// A Warning that repeats is recorded again from time to time, with the number of repetitions.
    pub(crate) fn record_change(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &'static ReportReason,
        message: &str,
    ) {
        let event = NewEvent {
            repeat: (event_type == Warning).then_some(self.repeat),
            ..NewEvent::new(event_type, reason, message)
        };
        let importance = match event_type {
            Normal => Importance::Success,
            Warning => Importance::Kept,
        };
        let (occurrences, _) = self.occurrences(regarding, &event);
        self.send(regarding, &event, occurrences, importance);
    }

    /// Records why an object or part waits, unless that was recorded already; returns when to do so
    /// again.
    pub(crate) fn record_wait(&self, regarding: &Regarding, wait: &Wait) -> Option<Duration> {
        let event_type = match wait.event {
            WaitEvent::Elsewhere => return None,
            WaitEvent::Progress => Normal,
            WaitEvent::Problem | WaitEvent::IfLong => Warning,
        };
        let event = NewEvent {
            // A count in the message is no news.
            subject: wait.subject(),
            is_wait: true,
            repeat: Some(self.repeat),
            ..NewEvent::new(event_type, wait.reason, &wait.message)
        };
        let (occurrences, next) = self.occurrences(regarding, &event);
        self.send(regarding, &event, occurrences.min(1), Importance::Kept);
        Some(next)
    }

    /// Lets the next wait of an object be recorded although it may be the same as the last one.
    pub(crate) fn end_wait(&self, regarding: &Regarding) {
        let key = regarding.key();
        if let Some(parts) = self.last.lock().get_mut(&key) {
            parts.remove(&(regarding.part.clone(), true));
        }
    }

    /// The count of an event now, which is 0 if it is not recorded, and the time until it is recorded
    /// again if it still repeats then.
    fn occurrences(&self, regarding: &Regarding, event: &NewEvent<'_>) -> (i32, Duration) {
        let now = Instant::now();
        let (uid, part) = (&regarding.object.uid, regarding.part.clone());
        let mut last = self.last.lock();
        let parts = last.entry(regarding.key()).or_default();
        let mut occurrences = 1;
        let known = parts.get_mut(&(part.clone(), event.is_wait));
        if let Some(known) = known.filter(|known| {
            (&known.uid, known.reason, known.subject.as_str()) == (uid, event.reason, event.subject)
        }) {
            let wait = event.repeat.map_or(Duration::MAX, |repeat| {
                repeat.saturating_sub(now.duration_since(known.at))
            });
            if !wait.is_zero() {
                known.suppressed = known.suppressed.saturating_add(1);
                return (0, wait);
            }
            occurrences = known.suppressed.saturating_add(1);
        }
        let recorded = LastEvent {
            uid: uid.clone(),
            reason: event.reason,
            subject: event.subject.to_owned(),
            at: now,
            suppressed: 0,
        };
        parts.insert((part, event.is_wait), recorded);
        (occurrences, self.repeat)
    }

    /// Records an event, whatever was recorded before.
    pub(crate) fn record(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &'static ReportReason,
        message: &str,
    ) {
        let event = NewEvent::new(event_type, reason, message);
        self.send(regarding, &event, 1, Importance::Kept);
    }

    fn send(
        &self,
        regarding: &Regarding,
        event: &NewEvent<'_>,
        occurrences: i32,
        importance: Importance,
    ) {
        if occurrences == 0 {
            return;
        }
        let Regarding { object, part } = regarding;
        let (reason, message) = (&**event.reason, event.message);
        let message = if part.is_empty() {
            message.to_owned()
        } else {
            format!("{part}: {message}")
        };
        if self.dry_run {
            tracing::info!(reason, event = message, "dry run: would record an event");
            return;
        }
        let now = Instant::now();
        if !self.rates.lock().allow(regarding.key(), importance, now) {
            self.metrics.event_suppressed();
            return;
        }
        let repeat = event.repeat;
        let event = EventRecord {
            regarding: object.clone(),
            part: part.clone(),
            event_type: event.event_type,
            reason: reason.to_owned(),
            message: truncated(message),
            at: self.wall_clock.now(),
            occurrences,
            // The next repetition may be late.
            retention: repeat.map_or(AGGREGATION_PERIOD, |repeat| repeat.saturating_mul(2)),
            recorded: now,
            name: None,
        };
        if !self.queue.add(event, importance) {
            self.metrics.event_dropped();
        }
    }

    /// Removes what is kept of an object that no longer exists.
    pub(crate) fn remove(&self, key: &RequestKey) {
        let key = (key.kind().to_owned(), key.object().clone());
        self.last.lock().remove(&key);
    }
}
