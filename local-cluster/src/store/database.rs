//! The store: objects under one short lock, and the disk before it.
//!
//! Every write is compare-and-swap: the caller decides on an object it read, without a lock, and
//! [`Store::replace`] refuses when somebody wrote in between.
//!
//! Writes are made one after the other: look whether it may be, write it to the disk, make it
//! visible. Readers wait only for the last of these, which is a moment; nothing is computed,
//! serialised or awaited meanwhile. What the disk does not take never becomes visible, and what is
//! visible is on the disk.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;

use super::disk::{Disk, Unreadable};
use super::draft::Draft;
use super::key::Key;
use super::state::State;
use super::{
    Change, ChangeKind, DiskError, Expired, Found, InsertError, OpenError, Range, Resource, Scan,
    Stored, WriteError,
};
use crate::object::Object;

type Everything = (Vec<(Resource, Arc<Stored>)>, u64, watch::Receiver<u64>);

/// Clients take version 0 for "any" and 1 is often a default: the first write is above both.
const FIRST: u64 = 1;

/// All objects, and what happened to them lately.
#[derive(Debug)]
pub(crate) struct Store {
    /// Held through a whole write; `None` keeps everything in memory only.
    disk: Mutex<Option<Disk>>,
    state: RwLock<State>,
    failures: AtomicU64,
}

impl Store {
    /// An empty store that keeps `history` changes per resource, in memory only.
    pub(crate) fn new(history: usize) -> Arc<Self> {
        Arc::new(Self::with(State::new(history, FIRST), None))
    }

    /// The store that was kept in a directory, and what of it could not be read.
    pub(crate) fn open(
        history: usize,
        directory: &Path,
    ) -> Result<(Arc<Self>, Vec<Unreadable>), OpenError> {
        let (disk, contents) = Disk::open(directory, FIRST)?;
        let mut state = State::new(history, contents.revision);
        for (resource, stored) in contents.objects {
            state.restore(&resource, Arc::new(stored));
        }
        let store = Self::with(state, Some(disk));
        Ok((Arc::new(store), contents.unreadable))
    }

    fn with(state: State, disk: Option<Disk>) -> Self {
        Self {
            disk: Mutex::new(disk),
            state: RwLock::new(state),
            failures: AtomicU64::new(0),
        }
    }

    pub(super) fn disk(&self) -> MutexGuard<'_, Option<Disk>> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.read().revision
    }

    /// Waits until a revision was reached.
    pub(crate) async fn reached(&self, revision: u64) {
        let mut head = self.read().everything.subscribe();
        // The sender lives in this store, so it does not end before.
        let _ = head.wait_for(|now| *now >= revision).await;
    }

    /// How often the disk did not take a write.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// One object.
    pub(crate) fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Stored>> {
        let key = Key::new(namespace, name);
        self.read().get(resource, &key).cloned()
    }

    /// The objects of a resource, of one namespace or of all, and the revision at which this was so.
    pub(crate) fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> (Vec<Arc<Stored>>, u64) {
        let range = Range {
            namespace,
            ..Range::default()
        };
        let scan = Scan {
            resource,
            range,
            at: None,
            take: None,
            counts: false,
        };
        // What is asked of the present has not expired.
        self.find(&scan).map_or_else(
            |_| (Vec::new(), self.revision()),
            |f| (f.objects, f.revision),
        )
    }

    /// The objects of a range, now or at an earlier revision.
    pub(crate) fn find(&self, scan: &Scan<'_>) -> Result<Found, Expired> {
        self.read().find(scan)
    }

    /// Stores a new object. The namespace of a namespaced one must exist and stay.
    pub(crate) fn insert(
        &self,
        resource: &Resource,
        new: Object,
        namespaced: bool,
    ) -> Result<Arc<Stored>, InsertError> {
        let draft = Draft::new(new);
        let key = Key::new(draft.namespace(), draft.name());
        let mut disk = self.disk();
        let revision = {
            let state = self.read();
            let namespace = namespaced.then(|| draft.namespace());
            state.check_free(resource, &key, namespace)?;
            state.revision + 1
        };
        let stored = Arc::new(draft.at(revision));
        self.keep(&mut disk, |disk| disk.put(resource, &stored))?;
        self.show(resource, key, ChangeKind::Added, &stored);
        Ok(stored)
    }

    /// Stores the next version of an object that was read as `current`.
    pub(crate) fn replace(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        next: Object,
    ) -> Result<Arc<Stored>, WriteError> {
        let draft = Draft::new(next);
        let key = Key::new(&current.namespace, &current.name);
        let mut disk = self.disk();
        let revision = self.next_revision(resource, &key, current)?;
        let stored = Arc::new(draft.at(revision));
        self.keep(&mut disk, |disk| disk.put(resource, &stored))?;
        self.show(resource, key, ChangeKind::Modified, &stored);
        Ok(stored)
    }

    /// Removes an object that was read as `current`; its last state may differ from that.
    pub(crate) fn remove(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        last: Object,
    ) -> Result<Arc<Stored>, WriteError> {
        let draft = Draft::new(last);
        let key = Key::new(&current.namespace, &current.name);
        let mut disk = self.disk();
        let revision = self.next_revision(resource, &key, current)?;
        let stored = Arc::new(draft.at(revision));
        self.keep(&mut disk, |disk| disk.remove(resource, current, revision))?;
        self.show(resource, key, ChangeKind::Deleted, &stored);
        Ok(stored)
    }

    /// The revision of a write that replaces what was read.
    fn next_revision(
        &self,
        resource: &Resource,
        key: &Key,
        current: &Arc<Stored>,
    ) -> Result<u64, WriteError> {
        let state = self.read();
        state.check_current(resource, key, current)?;
        Ok(state.revision + 1)
    }

    /// Writes to the disk, if there is one.
    fn keep(
        &self,
        disk: &mut Option<Disk>,
        write: impl FnOnce(&mut Disk) -> Result<(), DiskError>,
    ) -> Result<(), DiskError> {
        let Some(disk) = disk else {
            return Ok(());
        };
        write(disk).inspect_err(|error| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(%error, "a write was lost");
        })
    }

    /// Makes visible what is kept.
    fn show(&self, resource: &Resource, key: Key, kind: ChangeKind, stored: &Arc<Stored>) {
        let heads = self.write().apply(resource, key, kind, stored);
        // There may be many to wake, and the first of them looks at once.
        for head in heads {
            head.send_replace(stored.revision);
        }
    }

    /// Whether part of what a cluster begins with was there before, so that it is not made again.
    pub(crate) fn is_seeded(&self, part: &str) -> bool {
        self.disk()
            .as_ref()
            .is_some_and(|disk| disk.seeded.contains(part))
    }

    /// Remembers that part of what a cluster begins with is there.
    pub(crate) fn set_seeded(&self, part: &str) -> Result<(), DiskError> {
        self.keep(&mut self.disk(), |disk| disk.set_seeded(part))
    }

    /// Lets go of the directory: another store may open it. What is written from now on is refused.
    pub(crate) fn close(&self) {
        if let Some(disk) = &mut *self.disk() {
            disk.close();
        }
    }

    /// Wakes when a resource is written.
    pub(crate) fn head_of(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.write().shelf(resource).journal.subscribe()
    }

    /// Everything there is, as of which revision, and what wakes at any write.
    pub(super) fn everything(&self) -> Everything {
        let state = self.read();
        (state.all(), state.revision, state.everything.subscribe())
    }

    /// The changes after a position, and the revision up to which these are all.
    pub(super) fn changes_after(
        &self,
        resource: Option<&Resource>,
        position: u64,
        max: usize,
    ) -> Result<(Vec<Arc<Change>>, u64), Expired> {
        let state = self.read();
        let changes = state.changes_after(resource, position, max)?;
        Ok((changes, state.revision.max(position)))
    }
}
