//! What happened lately, so that a watch can go on where another ended.
//!
//! A journal keeps a bounded number of changes. Writers only append and wake; a reader asks for
//! what came after its position and is told [`Expired`] when that is no longer known. So a slow
//! watcher costs nobody anything: it learns that it is late and lists anew.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use super::{Resource, Stored};

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
}

impl Change {
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
    /// The revision of the newest change that was dropped.
    forgotten: u64,
    head: watch::Sender<u64>,
}

impl Journal {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            changes: VecDeque::new(),
            limit: limit.max(1),
            forgotten: 0,
            head: watch::Sender::new(0),
        }
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        let revision = change.revision();
        self.changes.push_back(change);
        while self.changes.len() > self.limit {
            if let Some(dropped) = self.changes.pop_front() {
                self.forgotten = dropped.revision();
            }
        }
        self.head.send_replace(revision);
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

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.head.subscribe()
    }
}
