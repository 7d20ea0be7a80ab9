//! Reasons why objects wait, as a condition and an event report them.

use crate::api::names::ANNOTATION_PAUSED;
use crate::api::reasons::{self, ReportReason};
use crate::api::{Condition, condition_types};
use crate::process::text::listed;
use jiff::Timestamp;
use std::fmt::Display;

/// Why an object waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub reason: &'static ReportReason,
    pub message: String,
    pub event: WaitEvent,
}

/// The event about a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEvent {
    /// It needs a user: a Warning.
    Problem,
    /// It ends by itself, or is no mistake: a Normal event.
    Progress,
    /// The usual way of things, which is reported by a Warning if it lasts long.
    IfLong,
    /// Another event reports it.
    Elsewhere,
}

impl Wait {
    pub(crate) fn new(
        reason: &'static ReportReason,
        message: impl Into<String>,
        event: WaitEvent,
    ) -> Self {
        let message = message.into();
        Self {
            reason,
            message,
            event,
        }
    }

    /// Distinguishes the wait's event from others about the same object with the same reason.
    pub(crate) fn subject(&self) -> &str {
        // Their messages have a count, name one of many records, or quote another object's condition.
        let varying = [
            reasons::LOAD_BALANCER_NOT_CREATED,
            reasons::RECORDS_REMAINING,
            reasons::RECORDS_REFUSED,
            reasons::REGISTERING,
        ];
        if varying.contains(&self.reason) {
            ""
        } else {
            &self.message
        }
    }

    /// A webhook that responds `Running` and began to at this time. The message has the time
    /// instead of the duration, so that it does not change.
    pub(crate) fn still_running(webhook: &str, since: Timestamp) -> Self {
        let message = format!("{}{since:.0}", running_message(webhook));
        Self::new(reasons::STILL_RUNNING, message, WaitEvent::Problem)
    }

    /// The condition of this type, with status `False`.
    pub(crate) fn condition(&self, type_: &str, generation: Option<i64>) -> Condition {
        Condition::unmet(type_, self.reason, self.message.clone(), generation)
    }
}

/// The object of this name keeps drivers from being called.
pub(crate) fn paused(object: &str) -> Wait {
    let message = format!("{object} is paused by its annotation {ANNOTATION_PAUSED}");
    Wait::new(reasons::PAUSED, message, WaitEvent::Progress)
}

/// The most names that a message lists, so that it stays short for any number of objects.
const NAMED: usize = 3;

/// The first of these, and how many more there are.
pub(crate) fn some<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    listed(items, NAMED)
}

/// The condition `Ready` of an owner of backends.
pub(crate) fn ready(wait: Option<&Wait>, generation: Option<i64>) -> Condition {
    let type_ = condition_types::READY;
    match wait {
        Some(wait) => wait.condition(type_, generation),
        None => Condition {
            reason: reasons::ALL_REGISTERED.to_string(),
            ..Condition::met(type_, generation)
        },
    }
}

fn running_message(webhook: &str) -> String {
    format!("{webhook} responds Running since ")
}

/// Since when a webhook responds `Running`, as far as an earlier process stored it.
pub(crate) fn stored_since(conditions: &[Condition], webhook: &str) -> Option<Timestamp> {
    let start = running_message(webhook);
    let mut stored = conditions
        .iter()
        .filter(|condition| condition.reason == reasons::STILL_RUNNING);
    stored.find_map(|condition| condition.message.strip_prefix(&start)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ConditionStatus;

    #[tokio::test]
    async fn d46_the_next_process_knows_since_when_a_webhook_responds_running() {
        let since: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let wait = Wait::still_running("ensureBackend", since);
        assert_eq!(
            wait.message,
            "ensureBackend responds Running since 2026-01-01T00:00:00Z"
        );
        let conditions = [wait.condition("Registered", None)];
        assert_eq!(stored_since(&conditions, "ensureBackend"), Some(since));
        assert_eq!(stored_since(&conditions, "deregisterBackend"), None);
        assert_eq!(stored_since(&[], "ensureBackend"), None);
    }

    #[test]
    fn d44_an_owner_that_waits_for_nothing_is_ready() {
        let condition = ready(None, Some(3));
        assert_eq!(condition.status, ConditionStatus::True);
        assert_eq!(
            (condition.reason.as_str(), condition.message.as_str()),
            ("AllRegistered", "")
        );
        let wait = Wait::new(reasons::NO_PODS_SELECTED, "none", WaitEvent::Problem);
        let condition = ready(Some(&wait), Some(3));
        assert_eq!(condition.status, ConditionStatus::False);
        assert_eq!(condition.observed_generation, Some(3));
    }
}
