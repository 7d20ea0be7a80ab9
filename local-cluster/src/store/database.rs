//! The store: objects under a short lock, and the disk before it.
//!
//! Every write is a compare-and-swap: the caller decides about an object that it read without a lock,
//! and [`Store::replace`] fails if the object was written in between.
//!
//! Writes are serialised: each is checked, written to disk and then made visible. Readers wait only for
//! the last step, in which nothing is computed, serialised or awaited. A write that the disk refuses never
//! becomes visible, and everything visible is on disk.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;

use super::disk::{Disk, Unreadable};
use super::key::Key;
use super::state::State;
use super::stored::Draft;
use super::{
    DiskError, EventType, Expired, Found, OpenError, Range, Resource, Scan, StoreEvent, Stored,
    WriteError,
};
use crate::object::{self, Object};

type Everything = (Vec<(Resource, Arc<Stored>)>, u64, watch::Receiver<u64>);

/// To clients version 0 means "any" and 1 is often a default: the first write is above both.
const FIRST: u64 = 1;

/// The largest object, in bytes: the default limit of etcd. What a built-in kind takes there is less
/// than the JSON that counts here.
const MAX_OBJECT: usize = 3 << 19;

#[derive(Debug)]
pub(crate) struct Store {
    /// Locked during a whole write; `None` without a data directory.
    disk: Mutex<Option<Disk>>,
    state: RwLock<State>,
    failures: AtomicU64,
}

impl Store {
    /// An empty store in memory, with `history` events per resource in the watch cache.
    pub(crate) fn new(history: usize) -> Arc<Self> {
        Arc::new(Self::with(State::new(history, FIRST), None))
    }

    /// Opens the store in a directory. Returns the objects that cannot be read too.
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

    pub(crate) fn revision(&self) -> u64 {
        self.read().revision
    }

    pub(crate) async fn reached(&self, revision: u64) {
        let mut head = self.read().everything.subscribe();
        // The sender lives as long as this store.
        let _ = head.wait_for(|now| *now >= revision).await;
    }

    /// The number of writes that the disk has refused.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(crate) fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Stored>> {
        let key = Key::new(namespace, name);
        self.read().get(resource, &key).cloned()
    }

    /// The objects of a resource, in one namespace or in all, and the revision of the list.
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
        // The present revision has not expired.
        self.find(&scan).map_or_else(
            |_| (Vec::new(), self.revision()),
            |f| (f.objects, f.revision),
        )
    }

    pub(crate) fn find(&self, scan: &Scan<'_>) -> Result<Found, Expired> {
        self.read().find(scan)
    }

    /// Stores a new object. The namespace of a namespaced one must exist and not be terminating.
    pub(crate) fn insert(
        &self,
        resource: &Resource,
        new: Object,
        namespaced: bool,
    ) -> Result<Arc<Stored>, WriteError> {
        let key = Key::new(object::namespace(&new), object::name(&new));
        let namespace = namespaced.then(|| object::namespace(&new).to_owned());
        self.commit(
            (resource, key),
            EventType::Added,
            new,
            |state, key| state.check_free(resource, key, namespace.as_deref()),
            |disk, stored| disk.put(resource, stored),
        )
    }

    /// Stores the next version of an object, if `current` is the present one.
    pub(crate) fn replace(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        next: Object,
    ) -> Result<Arc<Stored>, WriteError> {
        self.commit(
            (resource, Key::new(&current.namespace, &current.name)),
            EventType::Modified,
            next,
            |state, key| state.check_current(resource, key, current),
            |disk, stored| disk.put(resource, stored),
        )
    }

    /// Removes an object, if `current` is the present version; `last` is its last state.
    pub(crate) fn remove(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        last: Object,
    ) -> Result<Arc<Stored>, WriteError> {
        self.commit(
            (resource, Key::new(&current.namespace, &current.name)),
            EventType::Deleted,
            last,
            |state, key| state.check_current(resource, key, current),
            |disk, stored| disk.remove(resource, current, stored.revision),
        )
    }

    /// Checks a write, persists it and makes it visible.
    fn commit(
        &self,
        (resource, key): (&Resource, Key),
        kind: EventType,
        object: Object,
        check: impl FnOnce(&State, &Key) -> Result<(), WriteError>,
        persist: impl FnOnce(&mut Disk, &Stored) -> Result<(), DiskError>,
    ) -> Result<Arc<Stored>, WriteError> {
        let draft = Draft::new(object);
        if kind != EventType::Deleted && draft.size() > MAX_OBJECT {
            return Err(WriteError::TooLarge);
        }
        let mut disk = self.disk();
        let revision = {
            let state = self.read();
            check(&state, &key)?;
            state.revision + 1
        };
        let stored = Arc::new(draft.at(revision));
        self.persist(&mut disk, |disk| persist(disk, &stored))?;
        let heads = self.write().apply(resource, key, kind, &stored);
        // Outside the lock, because watchers read at once.
        for head in heads {
            head.send_replace(revision);
        }
        Ok(stored)
    }

    /// Fails if the namespace does not accept new objects.
    pub(crate) fn check_namespace(&self, namespace: &str) -> Result<(), WriteError> {
        self.read().check_namespace(namespace)
    }

    /// Writes to the disk, if there is one.
    fn persist(
        &self,
        disk: &mut Option<Disk>,
        write: impl FnOnce(&mut Disk) -> Result<(), DiskError>,
    ) -> Result<(), DiskError> {
        let Some(disk) = disk else {
            return Ok(());
        };
        write(disk).inspect_err(|error| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(%error, "the disk refused a write");
        })
    }

    /// A part of the initial objects was created before, so that it is not created again.
    pub(crate) fn is_seeded(&self, part: &str) -> bool {
        self.disk()
            .as_ref()
            .is_some_and(|disk| disk.seeded.contains(part))
    }

    /// Records that a part of the initial objects was created.
    pub(crate) fn set_seeded(&self, part: &str) -> Result<(), DiskError> {
        self.persist(&mut self.disk(), |disk| disk.set_seeded(part))
    }

    /// Releases the directory, so that another store can open it. Later writes fail.
    pub(crate) fn close(&self) {
        if let Some(disk) = &mut *self.disk() {
            disk.close();
        }
    }

    /// Changes when an object of the resource is written.
    pub(crate) fn head_of(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.write().resource(resource).watch_cache.subscribe()
    }

    /// All objects, their revision, and a receiver that changes with every write.
    pub(super) fn everything(&self) -> Everything {
        let state = self.read();
        (state.all(), state.revision, state.everything.subscribe())
    }

    /// The events after a position, and the revision up to which they are complete.
    pub(super) fn events_after(
        &self,
        resource: Option<&Resource>,
        position: u64,
        max: usize,
    ) -> Result<(Vec<Arc<StoreEvent>>, u64), Expired> {
        let state = self.read();
        let events = state.events_after(resource, position, max)?;
        Ok((events, state.revision.max(position)))
    }
}

/// A position in the watch cache of one resource or of all.
#[derive(Debug)]
pub(crate) struct WatchCursor {
    store: Arc<Store>,
    /// `None` for all resources.
    resource: Option<Resource>,
    position: u64,
    head: watch::Receiver<u64>,
}

impl WatchCursor {
    /// Reads the events of a resource after a revision.
    pub(crate) fn of(store: &Arc<Store>, resource: &Resource, position: u64) -> Self {
        Self {
            store: Arc::clone(store),
            resource: Some(resource.clone()),
            position,
            head: store.head_of(resource),
        }
    }

    /// Reads all events from now on. Returns all objects too.
    pub(crate) fn of_everything(store: &Arc<Store>) -> (Vec<(Resource, Arc<Stored>)>, Self) {
        let (objects, position, head) = store.everything();
        let cursor = Self {
            store: Arc::clone(store),
            resource: None,
            position,
            head,
        };
        (objects, cursor)
    }

    /// The revision up to which all events were read.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The next events, at most `max`, without waiting.
    pub(crate) fn take(&mut self, max: usize) -> Result<Vec<Arc<StoreEvent>>, Expired> {
        // Marked before reading, so that a concurrent write wakes the next wait.
        self.head.mark_unchanged();
        let (events, revision) =
            self.store
                .events_after(self.resource.as_ref(), self.position, max)?;
        self.position = match events.last() {
            Some(last) if events.len() >= max => last.revision(),
            _ => revision,
        };
        Ok(events)
    }

    /// Waits until there may be more events.
    pub(crate) async fn wait(&mut self) {
        if self.head.changed().await.is_err() {
            // The sender lives as long as the store, which this cursor holds.
            std::future::pending::<()>().await;
        }
    }

    /// Waits for the next events.
    pub(crate) async fn next(&mut self) -> Result<Vec<Arc<StoreEvent>>, Expired> {
        loop {
            let events = self.take(256)?;
            if !events.is_empty() {
                return Ok(events);
            }
            self.wait().await;
        }
    }
}
