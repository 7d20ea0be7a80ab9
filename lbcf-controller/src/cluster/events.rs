//! Events of objects, as `kubectl describe` shows them.
//!
//! Recording an event never delays a reconciliation: it is put into a bounded channel and written
//! by a task of its own. When the channel is full, the event is dropped and counted. An event that
//! repeats an earlier one of the same object increments the earlier one's count.

use crate::key::{ObjectKey, RequestKey};
use crate::leader::LeaseGuard;
use crate::lock::Mutex;
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
/// How long after its last occurrence an event's count is still incremented.
const AGGREGATION_PERIOD: Duration = Duration::from_secs(600);
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest message that Kubernetes accepts, in bytes.
const MESSAGE_MAX: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
}

#[derive(Debug)]
struct EventRecord {
    regarding: ObjectReference,
    event_type: EventType,
    reason: String,
    message: String,
    at: Timestamp,
}

/// The last event of an object or part: the object's uid, the reason and the message.
type LastEvent = (Option<String>, String, String);

type EventsByPart = HashMap<String, LastEvent>;

#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    queue: mpsc::Sender<EventRecord>,
    dropped: Arc<AtomicU64>,
    dry_run: bool,
    last: Arc<Mutex<HashMap<(String, ObjectKey), EventsByPart>>>,
}

impl Recorder {
    /// A recorder, and the task that writes what it records.
    pub(crate) fn new(client: Client, dry_run: bool, guard: LeaseGuard) -> (Self, EventWriter) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let recorder = Self {
            queue: sender,
            dropped: Arc::default(),
            dry_run,
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

    /// Records an event unless it repeats the last one of the object or part (u37).
    pub(crate) fn record_change(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &str,
        message: &str,
    ) {
        let Regarding { object, part } = regarding;
        let message = if part.is_empty() {
            message.to_owned()
        } else {
            format!("{part}: {message}")
        };
        let event = (object.uid.clone(), reason.to_owned(), message.clone());
        let key = ObjectKey::new(
            object.namespace.clone().unwrap_or_default(),
            object.name.clone().unwrap_or_default(),
        );
        let kind = object.kind.clone().unwrap_or_default();
        let mut last = self.last.lock();
        let parts = last.entry((kind, key)).or_default();
        if parts.get(part) == Some(&event) {
            return;
        }
        parts.insert(part.clone(), event);
        drop(last);
        self.record(regarding, event_type, reason, message);
    }

    /// Records an event, whatever was recorded before.
    pub(crate) fn record(
        &self,
        regarding: &Regarding,
        event_type: EventType,
        reason: &str,
        message: String,
    ) {
        if self.dry_run {
            tracing::info!(reason, message, "dry run: would record an event");
            return;
        }
        let event = EventRecord {
            regarding: regarding.object.clone(),
            event_type,
            reason: reason.to_owned(),
            message,
            at: Timestamp::now(),
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
    at: Instant,
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
            self.written
                .retain(|_, event| now.duration_since(event.at) < AGGREGATION_PERIOD);
            self.cleaned_at = now;
        }
        let namespace = record.regarding.namespace.clone().unwrap_or_default();
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let uid = record.regarding.uid.clone().unwrap_or_default();
        let key = (uid, record.reason.clone(), record.message.clone());
        if let Some(written) = self.written.get_mut(&key) {
            written.count += 1;
            written.at = now;
            let patch =
                serde_json::json!({ "count": written.count, "lastTimestamp": Time(record.at) });
            let patched = api
                .patch(&written.name, &PatchParams::default(), &Patch::Merge(patch))
                .await;
            if !matches!(&patched, Err(kube::Error::Api(status)) if status.is_not_found()) {
                return patched.map(drop);
            }
        }
        self.sequence += 1;
        let event = event_of(record, namespace, self.sequence);
        let name = event.metadata.name.clone().unwrap_or_default();
        api.create(&PostParams::default(), &event).await?;
        let (count, at) = (1, now);
        self.written.insert(key, WrittenEvent { name, count, at });
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
        first_timestamp: Some(Time(record.at)),
        last_timestamp: Some(Time(record.at)),
        count: Some(1),
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
