//! Events of objects, as `kubectl describe` shows them.
//!
//! Recording an event never delays a reconciliation: it is put into a queue and written by a task of
//! its own. Events about failures and waits are not dropped, however many objects have some: equal ones become one
//! while they wait. Events about success are limited in number, as are all events of an object and of a namespace, and
//! dropped and counted beyond that. A write that fails is repeated.
//!
//! Conditions that last are reported once, and again after each
//! [`Options::event_repeat`](crate::process::options::Options). An event that repeats an earlier one of
//! the same object increments the earlier one's count, also if that one has expired.

mod queue;
mod rates;
mod recorder;
mod writer;

use crate::api::{BackendOwner, ObjectKey};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Resource;
pub(crate) use recorder::Recorder;
use std::time::Duration;
use tokio::time::Instant;
pub(crate) use writer::EventWriter;

/// An event that recurs within this time after its last occurrence increments a count instead of
/// creating another Event. Events about something that lasts have a longer period.
const AGGREGATION_PERIOD: Duration = Duration::from_secs(600);

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

    /// The object's namespace and name.
    pub(crate) fn name(&self) -> (&str, &str) {
        let [namespace, name] = [&self.object.namespace, &self.object.name];
        (
            namespace.as_deref().unwrap_or_default(),
            name.as_deref().unwrap_or_default(),
        )
    }

    pub(crate) fn owner(owner: &dyn BackendOwner) -> Self {
        Self {
            object: owner.reference(),
            part: String::new(),
        }
    }

    /// A Service, of which the index has only a view.
    pub(crate) fn service(key: &ObjectKey, uid: &str) -> Self {
        let object = ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Service".to_owned()),
            namespace: Some(key.namespace.to_string()),
            name: Some(key.name.to_string()),
            uid: Some(uid.to_owned()),
            ..ObjectReference::default()
        };
        Self {
            object,
            part: String::new(),
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
    part: String,
    event_type: EventType,
    reason: String,
    message: String,
    at: Timestamp,
    /// Counts since the event was last recorded; added to the count in the cluster.
    occurrences: i32,
    /// Counted from `recorded`: until then the event's count can be incremented, or its write repeated.
    retention: Duration,
    recorded: Instant,
    /// The name that its write was given, which a repeated one has again, as a write whose response was
    /// lost may have been carried out.
    name: Option<String>,
}
