//! Writes events, one after the other.

use super::queue::WaitingEvents;
use super::{AGGREGATION_PERIOD, EventRecord};
use crate::leader::LeaseGuard;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The source of all events (b142).
const COMPONENT: &str = "lbcf-controller";
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest message that Kubernetes accepts, in bytes.
const MESSAGE_MAX: usize = 1024;

pub(crate) struct EventWriter {
    client: Client,
    guard: LeaseGuard,
    queue: WaitingEvents,
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
    pub(super) fn new(client: Client, guard: LeaseGuard, queue: WaitingEvents) -> Self {
        let started = Timestamp::now().as_nanosecond();
        Self {
            client,
            guard,
            queue,
            written: HashMap::new(),
            cleaned_at: Instant::now(),
            // Names of events must differ from those of an earlier process.
            sequence: u64::try_from(started).unwrap_or_default(),
        }
    }

    /// Writes until all recorders are dropped.
    pub(crate) async fn run(mut self) {
        while let Some(event) = self.queue.next().await {
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
