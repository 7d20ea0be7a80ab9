//! The latest events of a resource, from which watches start and resume.
//!
//! A watch cache has a bounded size and writers only append. A reader whose position is older than the
//! cache receives [`Expired`] and must list again, so a slow watcher costs no memory.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use super::{Resource, Stored};

/// The bytes of JSON that a watch cache keeps. In memory an object takes about eight times as much.
pub(super) const MAX_BYTES: usize = 8 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventType {
    Added,
    Modified,
    Deleted,
}

#[derive(Debug)]
pub(crate) struct StoreEvent {
    pub(crate) kind: EventType,
    pub(crate) resource: Resource,
    /// The object after the write; for a deletion its last state at the deletion's revision.
    pub(crate) object: Arc<Stored>,
    /// The object before the write.
    pub(crate) previous: Option<Arc<Stored>>,
    unselected: OnceLock<Arc<Stored>>,
}

impl StoreEvent {
    pub(crate) fn new(
        kind: EventType,
        resource: Resource,
        object: Arc<Stored>,
        previous: Option<Arc<Stored>>,
    ) -> Self {
        Self {
            kind,
            resource,
            object,
            previous,
            unselected: OnceLock::new(),
        }
    }

    /// The object before the write, at the write's revision: the `DELETED` event of a watch whose selector
    /// no longer matches.
    pub(crate) fn previous_at_revision(&self) -> Option<&Arc<Stored>> {
        let previous = self.previous.as_ref()?;
        let version = || Arc::new(Stored::new(previous.object.clone(), self.revision()));
        Some(self.unselected.get_or_init(version))
    }

    pub(crate) fn revision(&self) -> u64 {
        self.object.revision
    }
}

/// Events after the position are no longer in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    /// The oldest position that can be read from.
    pub(crate) oldest: u64,
}

/// A bounded log of events, oldest first.
#[derive(Debug)]
pub(super) struct WatchCache {
    events: VecDeque<Arc<StoreEvent>>,
    limit: usize,
    /// The total size of the objects' JSON.
    bytes: usize,
    max_bytes: usize,
    /// The revision of the newest event that was dropped.
    compacted: u64,
    head: watch::Sender<u64>,
}

impl WatchCache {
    /// An empty cache of at most `limit` events and `max_bytes` of JSON, starting after a revision.
    pub(super) fn new(limit: usize, max_bytes: usize, compacted: u64) -> Self {
        Self {
            events: VecDeque::new(),
            limit: limit.max(1),
            bytes: 0,
            max_bytes,
            compacted,
            head: watch::Sender::new(compacted),
        }
    }

    pub(super) fn push(&mut self, event: Arc<StoreEvent>) {
        self.bytes += event.object.size();
        self.events.push_back(event);
        while self.events.len() > self.limit
            || (self.bytes > self.max_bytes && self.events.len() > 1)
        {
            if let Some(dropped) = self.events.pop_front() {
                self.compacted = dropped.revision();
                self.bytes -= dropped.object.size();
            }
        }
    }

    pub(super) fn after(&self, position: u64, max: usize) -> Result<Vec<Arc<StoreEvent>>, Expired> {
        if position < self.compacted {
            return Err(Expired {
                oldest: self.compacted,
            });
        }
        let start = self.events.partition_point(|c| c.revision() <= position);
        Ok(self.events.iter().skip(start).take(max).cloned().collect())
    }

    /// The sender of the latest revision.
    pub(super) fn head(&self) -> watch::Sender<u64> {
        self.head.clone()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.head.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn event(revision: u64, size: usize) -> Arc<StoreEvent> {
        let filler = "x".repeat(size);
        let object = object(json!({"metadata": {"name": "n"}, "filler": filler}));
        let object = Arc::new(Stored::new(object, revision));
        let things = Resource::new("", "things");
        Arc::new(StoreEvent::new(EventType::Modified, things, object, None))
    }

    fn revisions(watch_cache: &WatchCache, position: u64) -> Result<Vec<u64>, u64> {
        let events = watch_cache.after(position, usize::MAX);
        let events = events.map_err(|expired| expired.oldest)?;
        Ok(events.iter().map(|c| c.revision()).collect())
    }

    #[test]
    fn old_events_are_dropped_by_number_and_by_size() {
        let mut few = WatchCache::new(2, MAX_BYTES, 0);
        let mut small = WatchCache::new(1000, 2500, 0);
        for revision in 5..10 {
            few.push(event(revision, 1));
            small.push(event(revision, 1000));
        }
        for watch_cache in [&few, &small] {
            assert_eq!(revisions(watch_cache, 7), Ok(vec![8, 9]));
            assert_eq!(revisions(watch_cache, 6), Err(7));
            assert_eq!(revisions(watch_cache, 20), Ok(vec![]));
        }
        small.push(event(10, 10_000));
        assert_eq!(revisions(&small, 9), Ok(vec![10]));
        assert_eq!(small.events.len(), 1);
    }

    #[test]
    fn revisions_before_the_cache_have_expired() {
        let watch_cache = WatchCache::new(2, MAX_BYTES, 40);
        assert_eq!(revisions(&watch_cache, 39), Err(40));
        assert_eq!(revisions(&watch_cache, 40), Ok(vec![]));
    }
}
