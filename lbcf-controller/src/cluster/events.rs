//! Events: what people see in `kubectl describe`.
//!
//! They are told beside the work and never in its way: reporting puts an event into a bounded
//! queue and goes on; where the queue is full, the event is dropped and counted. An event that
//! repeats an earlier one of the same object raises that one's count.

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

/// b142: who tells.
const COMPONENT: &str = "lbcf-controller";
/// How many events may wait to be written.
const QUEUE: usize = 1024;
/// How long an event is remembered for being repeated.
const REMEMBERED: Duration = Duration::from_secs(600);
/// How long writing one event may take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest message that Kubernetes takes.
const MESSAGE_MAX: usize = 1024;

/// Good news or bad news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EventType {
    Normal,
    Warning,
}

impl EventType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

#[derive(Debug)]
struct Report {
    about: ObjectReference,
    event_type: EventType,
    reason: &'static str,
    message: String,
    at: Timestamp,
}

/// Where events are put.
#[derive(Debug, Clone)]
pub(crate) struct EventSink {
    queue: mpsc::Sender<Report>,
    dropped: Arc<AtomicU64>,
}

/// Writes the events that were put into the sink.
pub(crate) struct Events {
    client: Client,
    queue: mpsc::Receiver<Report>,
    told: HashMap<(String, &'static str, String), Told>,
    forgot_at: Instant,
    instance: u64,
}

struct Told {
    name: String,
    count: i32,
    at: Instant,
}

impl EventSink {
    /// Reports something about an object.
    pub(crate) fn report<K: Resource<DynamicType = ()>>(
        &self,
        object: &K,
        event_type: EventType,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        let report = Report {
            about: object.object_ref(&()),
            event_type,
            reason,
            message: message.into(),
            at: Timestamp::now(),
        };
        if self.queue.try_send(report).is_err() {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::debug!(dropped, "an event was dropped, as too many wait");
        }
    }
}

impl Events {
    pub(crate) fn new(client: Client) -> (EventSink, Self) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let sink = EventSink {
            queue: sender,
            dropped: Arc::default(),
        };
        let started = Timestamp::now().as_nanosecond();
        let events = Self {
            client,
            queue: receiver,
            told: HashMap::new(),
            forgot_at: Instant::now(),
            // Names of events must differ from those of an earlier process.
            instance: u64::try_from(started).unwrap_or_default(),
        };
        (sink, events)
    }

    /// Writes until nobody reports any more.
    pub(crate) async fn run(mut self) {
        while let Some(report) = self.queue.recv().await {
            let reason = report.reason;
            match timeout(WRITE_TIMEOUT, self.write(report)).await {
                Ok(Ok(())) => {}
                // Where the object's namespace is going, for one, nothing can be told any more.
                Ok(Err(error)) => tracing::debug!(reason, %error, "an event was not written"),
                Err(_) => tracing::debug!(reason, "writing an event took too long"),
            }
        }
    }

    async fn write(&mut self, report: Report) -> kube::Result<()> {
        let now = Instant::now();
        if now.duration_since(self.forgot_at) > REMEMBERED / 10 {
            self.told
                .retain(|_, told| now.duration_since(told.at) < REMEMBERED);
            self.forgot_at = now;
        }
        let namespace = report.about.namespace.clone().unwrap_or_default();
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let uid = report.about.uid.clone().unwrap_or_default();
        let key = (uid, report.reason, report.message.clone());
        if let Some(told) = self.told.get_mut(&key) {
            told.count += 1;
            told.at = now;
            let patch =
                serde_json::json!({ "count": told.count, "lastTimestamp": Time(report.at) });
            let patched = api
                .patch(&told.name, &PatchParams::default(), &Patch::Merge(patch))
                .await;
            if !matches!(&patched, Err(kube::Error::Api(status)) if status.is_not_found()) {
                return patched.map(drop);
            }
        }
        self.instance += 1;
        let event = event_of(report, &namespace, self.instance);
        let name = event.metadata.name.clone().unwrap_or_default();
        api.create(&PostParams::default(), &event).await?;
        self.told.insert(
            key,
            Told {
                name,
                count: 1,
                at: now,
            },
        );
        Ok(())
    }
}

fn event_of(report: Report, namespace: &str, instance: u64) -> Event {
    let name = report.about.name.as_deref().unwrap_or_default();
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name}.{instance:x}")),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: report.about,
        type_: Some(report.event_type.as_str().to_owned()),
        reason: Some(report.reason.to_owned()),
        message: Some(shortened(report.message)),
        source: Some(EventSource {
            component: Some(COMPONENT.to_owned()),
            host: None,
        }),
        first_timestamp: Some(Time(report.at)),
        last_timestamp: Some(Time(report.at)),
        count: Some(1),
        ..Event::default()
    }
}

fn shortened(mut message: String) -> String {
    if message.len() > MESSAGE_MAX {
        let mut cut = MESSAGE_MAX - '…'.len_utf8();
        while !message.is_char_boundary(cut) {
            cut -= 1;
        }
        message.truncate(cut);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(shortened("short".into()), "short");
        let cut = shortened("ä".repeat(2000));
        assert!(
            cut.len() <= MESSAGE_MAX && cut.ends_with("ä…"),
            "{}",
            cut.len()
        );
    }
}
