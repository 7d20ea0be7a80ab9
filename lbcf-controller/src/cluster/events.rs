//! Events of objects, as `kubectl describe` shows them.
//!
//! Recording an event never delays a reconciliation: it is put into a bounded channel and written
//! by a task of its own. When the channel is full, the event is dropped and counted.
//!
//! What lasts is reported once and again after [`Options::event_repeat`](crate::Options) (d45). An
//! event that repeats an earlier one of the same object increments the earlier one's count, also if
//! that one has expired.

use crate::key::{ObjectKey, RequestKey};
use crate::leader::LeaseGuard;
use crate::lock::Mutex;
use crate::options::Options;
use crate::waiting::{Wait, WaitEvent};
use crate::wall_clock::WallClock;
use EventType::{Normal, Warning};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// The source of all events (b142).
const COMPONENT: &str = "lbcf-controller";
/// How many events can wait to be written.
const CAPACITY: usize = 1024;
/// How long after its last occurrence the count of an event that does not last is still incremented.
const AGGREGATION_PERIOD: Duration = Duration::from_secs(600);
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest message that Kubernetes accepts, in bytes.
const MESSAGE_MAX: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventType {
    Normal,
    Warning,
}

/// The object that an event is about, or a part of it, which the message then names.
#[derive(Debug, Clone)]
pub(crate) struct Regarding {
    object: ObjectReference,
    part: String,
}

impl Regarding {
    pub(crate) fn object<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        Self::part(object, "")
    }

    pub(crate) fn part<K: Resource<DynamicType = ()>>(object: &K, part: &str) -> Self {
        Self {
            object: object.object_ref(&()),
            part: part.to_owned(),
        }
    }

    fn key(&self) -> (String, ObjectKey) {
        let Self { object, .. } = self;
        let key = ObjectKey::new(
            object.namespace.clone().unwrap_or_default(),
            object.name.clone().unwrap_or_default(),
        );
        (object.kind.clone().unwrap_or_default(), key)
    }
}

#[derive(Debug)]
struct EventRecord {
    regarding: ObjectReference,
    event_type: EventType,
    reason: String,
    message: String,
    at: Timestamp,
    /// How often it happened since it was recorded last.
    occurrences: i32,
    /// How long its count can be incremented.
    retention: Duration,
}

/// What was reported last about an object or part.
#[derive(Debug)]
struct LastEvent {
    uid: Option<String>,
    reason: String,
    /// What has to be equal for an event to be a repetition.
    subject: String,
    at: Instant,
    /// How often it happened since, without an event.
    suppressed: i32,
}

/// Of an object's parts, and of what each reports: its waits or its operations.
type EventsByPart = HashMap<(String, bool), LastEvent>;

/// What an event is compared with.
struct Slot<'a> {
    is_wait: bool,
    subject: &'a str,
    /// When an equal event is recorded again.
    repeat: Option<Duration>,
}

#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    queue: mpsc::Sender<EventRecord>,
    dropped: Arc<AtomicU64>,
    dry_run: bool,
    repeat: Duration,
    wall_clock: WallClock,
    last: Arc<Mutex<HashMap<(String, ObjectKey), EventsByPart>>>,
}

impl Recorder {
    /// A recorder, and the task that writes what it records.
    pub(crate) fn new(client: Client, options: &Options, guard: LeaseGuard) -> (Self, EventWriter) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let recorder = Self {
            queue: sender,
            dropped: Arc::default(),
            dry_run: options.dry_run,
            repeat: options.event_repeat,
            wall_clock: options.wall_clock.clone(),
            last: Arc::default(),
        };
        let started = Timestamp::now().as_nanosecond();
        let writer = EventWriter {
            client,
            guard,
            queue: receiver,
            written: HashMap::new(),
            cleaned_at: Instant::now(),
            // Names of events must differ from those of an earlier process.
            sequence: u64::try_from(started).unwrap_or_default(),
        };
        (recorder, writer)
    }

    /// Records an event of an operation unless it repeats the last one of the object or part (u37).
    /// A Warning that repeats is recorded again from time to time, with the number of repetitions.
    pub(crate) fn record_change(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &str,
        message: &str,
    ) {
        let repeat = (event_type == Warning).then_some(self.repeat);
        let slot = Slot {
            is_wait: false,
            subject: message,
            repeat,
        };
        let (occurrences, _) = self.occurrences(regarding, reason, &slot);
        self.send(regarding, event_type, reason, message, occurrences, repeat);
    }

    /// Records why an object or part waits, unless that was recorded already; returns when to do so
    /// again.
    pub(crate) fn record_wait(&self, regarding: &Regarding, wait: &Wait) -> Option<Duration> {
        let event_type = match wait.event {
            WaitEvent::Elsewhere => return None,
            WaitEvent::Progress => Normal,
            WaitEvent::Problem | WaitEvent::IfLong => Warning,
        };
        let slot = Slot {
            is_wait: true,
            // A count in the message is no news.
            subject: wait.subject(),
            repeat: Some(self.repeat),
        };
        let (occurrences, next) = self.occurrences(regarding, wait.reason, &slot);
        let occurrences = occurrences.min(1);
        let (reason, message) = (wait.reason, &wait.message);
        self.send(
            regarding,
            event_type,
            reason,
            message,
            occurrences,
            slot.repeat,
        );
        Some(next)
    }

    /// Lets the next wait of an object be recorded although it may be the same as the last one.
    pub(crate) fn end_wait(&self, regarding: &Regarding) {
        let key = regarding.key();
        if let Some(parts) = self.last.lock().get_mut(&key) {
            parts.remove(&(regarding.part.clone(), true));
        }
    }

    /// How often an event has to be counted now, which is 0 if it is not recorded, and when it is
    /// recorded again if it still repeats then.
    fn occurrences(&self, regarding: &Regarding, reason: &str, slot: &Slot<'_>) -> (i32, Duration) {
        let now = Instant::now();
        let (uid, part) = (&regarding.object.uid, regarding.part.clone());
        let mut last = self.last.lock();
        let parts = last.entry(regarding.key()).or_default();
        let mut occurrences = 1;
        let known = parts.get_mut(&(part.clone(), slot.is_wait));
        if let Some(known) = known.filter(|known| {
            (&known.uid, known.reason.as_str(), known.subject.as_str())
                == (uid, reason, slot.subject)
        }) {
            let wait = slot.repeat.map_or(Duration::MAX, |repeat| {
                repeat.saturating_sub(now.duration_since(known.at))
            });
            if !wait.is_zero() {
                known.suppressed = known.suppressed.saturating_add(1);
                return (0, wait);
            }
            occurrences = known.suppressed.saturating_add(1);
        }
        let event = LastEvent {
            uid: uid.clone(),
            reason: reason.to_owned(),
            subject: slot.subject.to_owned(),
            at: now,
            suppressed: 0,
        };
        parts.insert((part, slot.is_wait), event);
        (occurrences, self.repeat)
    }

    /// Records an event, whatever was recorded before.
    pub(crate) fn record(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &str,
        message: &str,
    ) {
        self.send(regarding, event_type, reason, message, 1, None);
    }

    fn send(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &str,
        message: &str,
        occurrences: i32,
        repeat: Option<Duration>,
    ) {
        if occurrences == 0 {
            return;
        }
        let Regarding { object, part } = regarding;
        let message = if part.is_empty() {
            message.to_owned()
        } else {
            format!("{part}: {message}")
        };
        if self.dry_run {
            tracing::info!(reason, message, "dry run: would record an event");
            return;
        }
        let event = EventRecord {
            regarding: object.clone(),
            event_type,
            reason: reason.to_owned(),
            message,
            at: self.wall_clock.now(),
            occurrences,
            // The next repetition may be late.
            retention: repeat.map_or(AGGREGATION_PERIOD, |repeat| repeat.saturating_mul(2)),
        };
        if self.queue.try_send(event).is_err() {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::debug!(dropped, "dropped an event: too many are waiting");
        }
    }

    /// Removes what is kept of an object that no longer exists.
    pub(crate) fn remove(&self, key: &RequestKey) {
        let key = (key.kind().to_owned(), key.object().clone());
        self.last.lock().remove(&key);
    }
}

pub(crate) struct EventWriter {
    client: Client,
    guard: LeaseGuard,
    queue: mpsc::Receiver<EventRecord>,
    /// By uid, reason and message.
    written: HashMap<(String, String, String), WrittenEvent>,
    cleaned_at: Instant,
    sequence: u64,
}

struct WrittenEvent {
    name: String,
    count: i32,
    first: Timestamp,
    /// Its count can be incremented until then.
    until: Instant,
}

impl EventWriter {
    /// Writes until all recorders are dropped.
    pub(crate) async fn run(mut self) {
        while let Some(event) = self.queue.recv().await {
            let reason = event.reason.clone();
            let guard = self.guard.clone();
            match guard.run(timeout(WRITE_TIMEOUT, self.write(event))).await {
                Ok(Ok(Ok(()))) => {}
                // Expected, for example, while the object's namespace is being deleted.
                Ok(Ok(Err(error))) => tracing::debug!(reason, %error, "could not write an event"),
                Ok(Err(_)) => tracing::debug!(reason, "could not write an event: timed out"),
                Err(error) => tracing::debug!(reason, %error, "dropped an event"),
            }
        }
    }

    async fn write(&mut self, record: EventRecord) -> kube::Result<()> {
        let now = Instant::now();
        if now.duration_since(self.cleaned_at) > AGGREGATION_PERIOD / 10 {
            self.written.retain(|_, event| event.until > now);
            self.cleaned_at = now;
        }
        let namespace = record.regarding.namespace.clone().unwrap_or_default();
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let uid = record.regarding.uid.clone().unwrap_or_default();
        let key = (uid, record.reason.clone(), record.message.clone());
        let until = now + record.retention;
        let (mut count, mut first) = (record.occurrences, record.at);
        if let Some(written) = self.written.get_mut(&key) {
            written.count = written.count.saturating_add(record.occurrences);
            written.until = until;
            (count, first) = (written.count, written.first);
            let patch = serde_json::json!({ "count": count, "lastTimestamp": Time(record.at) });
            let patched = api
                .patch(&written.name, &PatchParams::default(), &Patch::Merge(patch))
                .await;
            // The API server deletes events after an hour by default.
            if !matches!(&patched, Err(kube::Error::Api(status)) if status.is_not_found()) {
                return patched.map(drop);
            }
        }
        self.sequence += 1;
        let event = Event {
            count: Some(count),
            first_timestamp: Some(Time(first)),
            ..event_of(record, namespace, self.sequence)
        };
        let name = event.metadata.name.clone().unwrap_or_default();
        api.create(&PostParams::default(), &event).await?;
        let written = WrittenEvent {
            name,
            count,
            first,
            until,
        };
        self.written.insert(key, written);
        Ok(())
    }
}

fn event_of(record: EventRecord, namespace: String, sequence: u64) -> Event {
    let name = record.regarding.name.as_deref().unwrap_or_default();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{sequence:x}")),
            namespace: Some(namespace),
            ..ObjectMeta::default()
        },
        involved_object: record.regarding,
        type_: Some(format!("{:?}", record.event_type)),
        reason: Some(record.reason),
        message: Some(truncated(record.message)),
        source: Some(EventSource {
            component: Some(COMPONENT.to_owned()),
            host: None,
        }),
        last_timestamp: Some(Time(record.at)),
        ..Event::default()
    }
}

fn truncated(mut message: String) -> String {
    if message.len() > MESSAGE_MAX {
        let mut end = MESSAGE_MAX - '…'.len_utf8();
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_truncated_between_characters() {
        assert_eq!(truncated("short".into()), "short");
        let truncated = truncated("ä".repeat(2000));
        assert!(
            truncated.len() <= MESSAGE_MAX && truncated.ends_with("ä…"),
            "{}",
            truncated.len()
        );
    }
}
