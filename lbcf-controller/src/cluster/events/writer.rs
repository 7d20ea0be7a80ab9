//! Writes events, one after the other.

use super::queue::WaitingEvents;
use super::{AGGREGATION_PERIOD, EventRecord};
use crate::api::names::CONTROLLER;
use crate::cluster::client::is_transient;
use crate::process::backoff::{Backoff, jitter};
use crate::process::leader::LeaseGuard;
use crate::process::metrics::Metrics;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::core::Status;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause after writes that failed.
const RETRY: Backoff = Backoff {
    min: Duration::from_millis(100),
    step: Duration::from_millis(100),
    max: Duration::from_secs(10),
};
/// The longest message that Kubernetes accepts, in bytes.
const MESSAGE_MAX: usize = 1024;

pub(crate) struct EventWriter {
    client: Client,
    guard: LeaseGuard,
    metrics: Metrics,
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
    pub(super) fn new(
        client: Client,
        guard: LeaseGuard,
        metrics: Metrics,
        queue: WaitingEvents,
    ) -> Self {
        let started = Timestamp::now().as_nanosecond();
        Self {
            client,
            guard,
            metrics,
            queue,
            written: HashMap::new(),
            cleaned_at: Instant::now(),
            // Names of events must differ from those of an earlier process.
            sequence: u64::try_from(started).unwrap_or_default(),
        }
    }

    /// Writes until all recorders are dropped.
    pub(crate) async fn run(mut self) {
        let mut failures = 0;
        while let Some(mut event) = self.queue.next().await {
            let guard = self.guard.clone();
            let written = guard.run(timeout(WRITE_TIMEOUT, self.write(&mut event)));
            let failure = match written.await {
                Ok(Ok(Ok(()))) => {
                    failures = 0;
                    continue;
                }
                Ok(Ok(Err(error))) if is_transient(&error) || is_conflict(&error) => {
                    error.to_string()
                }
                Ok(Err(_)) => "timed out".to_owned(),
                // Expected, for example, while the object's namespace is being deleted.
                Ok(Ok(Err(error))) => {
                    self.drop(&event, &error.to_string());
                    continue;
                }
                Err(error) => {
                    self.drop(&event, &error.to_string());
                    continue;
                }
            };
            if event.recorded.elapsed() >= event.retention {
                self.drop(&event, &failure);
                continue;
            }
            let reason = &event.reason;
            tracing::debug!(reason, error = failure, "could not write an event yet");
            self.queue.put_back(event);
            failures += 1;
            sleep(RETRY.after(failures, jitter())).await;
        }
    }

    fn drop(&self, event: &EventRecord, error: &str) {
        tracing::debug!(reason = event.reason, error, "could not write an event");
        self.metrics.event_dropped();
    }

    /// Writes an event; after an error it can be called again, also if the write was carried out.
    async fn write(&mut self, record: &mut EventRecord) -> kube::Result<()> {
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
            count = written.count.saturating_add(record.occurrences);
            first = written.first;
            let patch = serde_json::json!({ "count": count, "lastTimestamp": Time(record.at) });
            let patched = api
                .patch(&written.name, &PatchParams::default(), &Patch::Merge(patch))
                .await;
            // The API server deletes events after an hour by default.
            if !is_status(&patched, Status::is_not_found) {
                patched?;
                (written.count, written.until) = (count, until);
                return Ok(());
            }
        }
        let name = record.name.get_or_insert_with(|| {
            self.sequence += 1;
            let object = record.regarding.name.as_deref().unwrap_or_default();
            format!("{object}.{:x}", self.sequence)
        });
        let name = name.clone();
        let event = Event {
            count: Some(count),
            first_timestamp: Some(Time(first)),
            ..event_of(record, namespace, name.clone())
        };
        let created = api.create(&PostParams::default(), &event).await;
        if !is_status(&created, Status::is_already_exists) {
            created?;
        }
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

/// The API server gives up a patch after some conflicts.
fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_conflict())
}

fn is_status<T>(result: &kube::Result<T>, is: impl Fn(&Status) -> bool) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if is(status))
}

fn event_of(record: &EventRecord, namespace: String, name: String) -> Event {
    Event {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(namespace),
            ..ObjectMeta::default()
        },
        involved_object: record.regarding.clone(),
        type_: Some(format!("{:?}", record.event_type)),
        reason: Some(record.reason.clone()),
        message: Some(record.message.clone()),
        source: Some(EventSource {
            component: Some(CONTROLLER.to_owned()),
            host: None,
        }),
        last_timestamp: Some(Time(record.at)),
        ..Event::default()
    }
}

pub(super) fn truncated(mut message: String) -> String {
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
