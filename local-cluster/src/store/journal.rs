//! What happened lately, so that a watch can go on where another ended.
//!
//! A journal keeps a bounded number of changes. Writers only append; a reader asks for what came
//! after its position and is told [`Expired`] when that is no longer known. So a slow
//! watcher costs nobody anything: it learns that it is late and lists anew.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use super::{Resource, Stored};

/// How much of objects' JSON the journal of a resource keeps alive, whatever the number of changes. In
/// memory an object takes about eight times as much.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One write.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) resource: Resource,
    /// The object after the write; for a deletion its last state, at the deletion's revision.
    pub(crate) object: Arc<Stored>,
    /// The object before the write.
    pub(crate) previous: Option<Arc<Stored>>,
    left: OnceLock<Arc<Stored>>,
}

impl Change {
    pub(super) fn new(
        kind: ChangeKind,
        resource: Resource,
        object: Arc<Stored>,
        previous: Option<Arc<Stored>>,
    ) -> Self {
        Self {
            kind,
            resource,
            object,
            previous,
            left: OnceLock::new(),
        }
    }

    /// The object before the write, at the write's revision: what those see who no longer see it.
    pub(crate) fn left(&self) -> Option<&Arc<Stored>> {
        let previous = self.previous.as_ref()?;
        let leave = || Arc::new(Stored::new(previous.object.clone(), self.revision()));
        Some(self.left.get_or_init(leave))
    }

    /// The revision that this write made.
    pub(crate) fn revision(&self) -> u64 {
        self.object.revision
    }
}

/// The changes after that position are no longer all known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    /// The oldest position that could be read from.
    pub(crate) oldest: u64,
}

/// A bounded log of changes, oldest first.
#[derive(Debug)]
pub(super) struct Journal {
    changes: VecDeque<Arc<Change>>,
    limit: usize,
    /// The sizes of the changed objects together.
    bytes: usize,
    max_bytes: usize,
    /// The revision of the newest change that is not kept.
    forgotten: u64,
    head: watch::Sender<u64>,
}

impl Journal {
    /// An empty journal of at most so many changes and so many bytes of JSON, that knows nothing of
    /// what was before a revision.
    pub(super) fn new(limit: usize, max_bytes: usize, forgotten: u64) -> Self {
        Self {
            changes: VecDeque::new(),
            limit: limit.max(1),
            bytes: 0,
            max_bytes,
            forgotten,
            head: watch::Sender::new(forgotten),
        }
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.bytes += change.object.size();
        self.changes.push_back(change);
        while self.changes.len() > self.limit
            || (self.bytes > self.max_bytes && self.changes.len() > 1)
        {
            if let Some(dropped) = self.changes.pop_front() {
                self.forgotten = dropped.revision();
                self.bytes -= dropped.object.size();
            }
        }
    }

    pub(super) fn after(&self, position: u64, max: usize) -> Result<Vec<Arc<Change>>, Expired> {
        if position < self.forgotten {
            return Err(Expired {
                oldest: self.forgotten,
            });
        }
        let start = self.changes.partition_point(|c| c.revision() <= position);
        Ok(self.changes.iter().skip(start).take(max).cloned().collect())
    }

    /// What is told the revision of each change, to wake those who wait for it.
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

    fn change(revision: u64, size: usize) -> Arc<Change> {
        let filler = "x".repeat(size);
        let object = object(json!({"metadata": {"name": "n"}, "filler": filler}));
        let object = Arc::new(Stored::new(object, revision));
        let things = Resource::new("", "things");
        Arc::new(Change::new(ChangeKind::Modified, things, object, None))
    }

    fn revisions(journal: &Journal, position: u64) -> Result<Vec<u64>, u64> {
        let changes = journal.after(position, usize::MAX);
        let changes = changes.map_err(|expired| expired.oldest)?;
        Ok(changes.iter().map(|c| c.revision()).collect())
    }

    #[test]
    fn old_changes_are_forgotten_by_number_and_by_size() {
        let mut few = Journal::new(2, MAX_BYTES, 0);
        let mut small = Journal::new(1000, 2500, 0);
        for revision in 5..10 {
            few.push(change(revision, 1));
            small.push(change(revision, 1000));
        }
        for journal in [&few, &small] {
            assert_eq!(revisions(journal, 7), Ok(vec![8, 9]));
            assert_eq!(revisions(journal, 6), Err(7));
            assert_eq!(revisions(journal, 20), Ok(vec![]));
        }
        small.push(change(10, 10_000));
        assert_eq!(revisions(&small, 9), Ok(vec![10]));
        assert_eq!(small.changes.len(), 1);
    }

    #[test]
    fn what_was_before_the_journal_is_not_known() {
        let journal = Journal::new(2, MAX_BYTES, 40);
        assert_eq!(revisions(&journal, 39), Err(40));
        assert_eq!(revisions(&journal, 40), Ok(vec![]));
    }
}
