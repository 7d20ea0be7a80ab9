//! Counts requests by client, verb and resource, so that tests can check what a controller costs.
//!
//! The cluster's own controllers send no requests.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A client, a verb and a resource, for which requests are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RequestKey {
    /// The client: its `User-Agent` up to the first `/` or space.
    pub user_agent: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// `group/resource`, or `resource` of the core group.
    pub resource: String,
    /// The subresource, such as `status`; empty for the object itself.
    pub subresource: String,
}

impl RequestKey {
    /// A key for counts that a client makes itself.
    pub fn new(
        user_agent: impl Into<String>,
        verb: &'static str,
        resource: impl Into<String>,
        subresource: impl Into<String>,
    ) -> Self {
        Self {
            user_agent: user_agent.into(),
            verb,
            resource: resource.into(),
            subresource: subresource.into(),
        }
    }

    /// True for create, update, patch, delete and deletecollection.
    pub fn is_write(&self) -> bool {
        matches!(
            self.verb,
            "create" | "update" | "patch" | "delete" | "deletecollection"
        )
    }

    /// True for `events` of the core group and of `events.k8s.io`.
    pub fn is_event(&self) -> bool {
        matches!(self.resource.as_str(), "events" | "events.k8s.io/events")
    }
}

/// The numbers of requests up to a moment, or between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    counts: BTreeMap<RequestKey, u64>,
}

impl RequestCounts {
    /// The number of requests whose key satisfies a condition.
    pub fn count(&self, mut filter: impl FnMut(&RequestKey) -> bool) -> u64 {
        self.counts
            .iter()
            .filter(|(key, _)| filter(key))
            .map(|(_, count)| count)
            .sum()
    }

    /// The number of writes except of events, including those that failed or changed nothing.
    pub fn writes(&self) -> u64 {
        self.count(|key| key.is_write() && !key.is_event())
    }

    /// The number of writes of one client except of events.
    pub fn writes_by(&self, user_agent: &str) -> u64 {
        self.count(|key| key.user_agent == user_agent && key.is_write() && !key.is_event())
    }

    /// The number of writes of events.
    pub fn event_writes(&self) -> u64 {
        self.count(|key| key.is_write() && key.is_event())
    }

    /// The requests since an earlier snapshot.
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

    /// All counters that are not zero.
    pub fn iter(&self) -> impl Iterator<Item = (&RequestKey, u64)> {
        self.counts.iter().map(|(key, count)| (key, *count))
    }
}

/// Counts that a client made itself; those of equal keys are added.
impl FromIterator<(RequestKey, u64)> for RequestCounts {
    fn from_iter<I: IntoIterator<Item = (RequestKey, u64)>>(counted: I) -> Self {
        let mut counts = BTreeMap::new();
        for (key, count) in counted {
            *counts.entry(key).or_default() += count;
        }
        Self { counts }
    }
}

impl std::ops::Sub for &RequestCounts {
    type Output = RequestCounts;

    fn sub(self, earlier: Self) -> RequestCounts {
        self.since(earlier)
    }
}

/// The maximum number of keys, because clients choose their names freely.
const MAX_KEYS: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<BTreeMap<RequestKey, u64>>);

impl Counters {
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

    pub(crate) fn snapshot(&self) -> RequestCounts {
        let counts = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        RequestCounts { counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_own_counts_are_added_up() {
        let key = |verb| RequestKey::new("agent", verb, "pods", "");
        let counted = [(key("create"), 2), (key("get"), 5), (key("create"), 1)];
        let counts: RequestCounts = counted.into_iter().collect();
        assert_eq!((counts.writes_by("agent"), counts.count(|_| true)), (3, 8));
    }

    #[test]
    fn counts_are_distinguished_and_subtracted() {
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
