//! Who asked for what, how often.
//!
//! What a controller costs is what it asks of the API; tests say so in numbers. Only requests are
//! counted: the cluster's own agents write to the store without one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a counter counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RequestKey {
    /// The client: its `User-Agent` up to the first `/` or space.
    pub user_agent: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// `group/resource`, or `resource` of the core group.
    pub resource: String,
    /// `status`, or empty.
    pub subresource: String,
}

impl RequestKey {
    /// Whether it asks for a change, successful or not.
    pub fn is_write(&self) -> bool {
        matches!(
            self.verb,
            "create" | "update" | "patch" | "delete" | "deletecollection"
        )
    }

    /// Whether it is about events, of either API.
    pub fn is_event(&self) -> bool {
        matches!(self.resource.as_str(), "events" | "events.k8s.io/events")
    }
}

/// The requests answered up to a moment, or between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    counts: BTreeMap<RequestKey, u64>,
}

impl RequestCounts {
    /// How many requests satisfy a condition.
    pub fn count(&self, mut wanted: impl FnMut(&RequestKey) -> bool) -> u64 {
        self.counts
            .iter()
            .filter(|(key, _)| wanted(key))
            .map(|(_, count)| count)
            .sum()
    }

    /// Writes of objects, events apart. Refused writes count, and writes that changed nothing.
    pub fn writes(&self) -> u64 {
        self.count(|key| key.is_write() && !key.is_event())
    }

    /// The same of one client.
    pub fn writes_by(&self, user_agent: &str) -> u64 {
        self.count(|key| key.user_agent == user_agent && key.is_write() && !key.is_event())
    }

    /// Writes of events.
    pub fn event_writes(&self) -> u64 {
        self.count(|key| key.is_write() && key.is_event())
    }

    /// What was asked since an earlier snapshot.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self
            .counts
            .iter()
            .map(|(key, count)| {
                let before = earlier.counts.get(key).copied().unwrap_or(0);
                (key.clone(), count.saturating_sub(before))
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        Self { counts }
    }

    /// Every counter that is not zero.
    pub fn iter(&self) -> impl Iterator<Item = (&RequestKey, u64)> {
        self.counts.iter().map(|(key, count)| (key, *count))
    }
}

impl std::ops::Sub for &RequestCounts {
    type Output = RequestCounts;

    fn sub(self, earlier: Self) -> RequestCounts {
        self.since(earlier)
    }
}

/// How many different keys are told apart, as clients choose their names freely.
const MAX_KEYS: usize = 10_000;

/// The running counters.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<BTreeMap<RequestKey, u64>>);

impl Counters {
    /// Counts one request.
    pub(crate) fn add(
        &self,
        user_agent: &str,
        verb: &'static str,
        resource: String,
        subresource: &str,
    ) {
        let product = user_agent.split(['/', ' ']).next().unwrap_or_default();
        let key = RequestKey {
            user_agent: product.chars().take(128).collect(),
            verb,
            resource,
            subresource: subresource.to_owned(),
        };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&key) {
            *count += 1;
        } else if counts.len() < MAX_KEYS {
            counts.insert(key, 1);
        }
    }

    /// The counts up to now.
    pub(crate) fn snapshot(&self) -> RequestCounts {
        RequestCounts {
            counts: self
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_apart_and_subtracted() {
        let counters = Counters::default();
        counters.add("agent/1.0 (x)", "create", "g/things".into(), "");
        let before = counters.snapshot();
        counters.add("agent/1.0", "patch", "g/things".into(), "status");
        counters.add("agent", "create", "events.k8s.io/events".into(), "");
        counters.add("other", "get", "pods".into(), "");
        let after = counters.snapshot();
        let between = &after - &before;
        assert_eq!((after.writes(), between.writes()), (2, 1));
        assert_eq!(
            (between.writes_by("agent"), between.writes_by("other")),
            (1, 0)
        );
        assert_eq!(between.event_writes(), 1);
        assert_eq!(
            between.count(|k| k.verb == "get" && k.resource == "pods"),
            1
        );
    }
}
