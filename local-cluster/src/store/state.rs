//! The state that the store's lock guards.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::key::Key;
use super::resource_store::ResourceStore;
use super::watch_cache::{MAX_BYTES, WatchCache};
use super::{EventType, Expired, Found, Resource, Scan, StoreEvent, Stored, WriteError};
use crate::object;

#[derive(Debug)]
pub(super) struct State {
    pub(super) revision: u64,
    resources: HashMap<Resource, ResourceStore>,
    pub(super) everything: WatchCache,
    namespaces: Resource,
    /// The number of events that are kept of each resource.
    history: usize,
    /// The revision at which this process started; events up to it are not known.
    started_at: u64,
}

impl State {
    pub(super) fn new(history: usize, revision: u64) -> Self {
        Self {
            revision,
            resources: HashMap::new(),
            everything: WatchCache::new(history.saturating_mul(4), 2 * MAX_BYTES, revision),
            namespaces: Resource::new("", "namespaces"),
            history,
            started_at: revision,
        }
    }

    /// Inserts an object of an earlier process, without an event.
    pub(super) fn restore(&mut self, resource: &Resource, stored: Arc<Stored>) {
        let key = Key::new(&stored.namespace, &stored.name);
        self.resource(resource).insert(key, stored);
    }

    pub(super) fn get(&self, resource: &Resource, key: &Key) -> Option<&Arc<Stored>> {
        self.resources.get(resource)?.get(key)
    }

    pub(super) fn find(&self, scan: &Scan<'_>) -> Result<Found, Expired> {
        let (objects, total) = match self.resources.get(scan.resource) {
            Some(store) => store.find(scan)?,
            None if scan.at.is_some_and(|at| at < self.started_at) => {
                return Err(Expired {
                    oldest: self.started_at,
                });
            }
            None => (Vec::new(), 0),
        };
        Ok(Found {
            objects,
            revision: scan.at.unwrap_or(self.revision),
            total,
        })
    }

    pub(super) fn all(&self) -> Vec<(Resource, Arc<Stored>)> {
        let mut all = Vec::new();
        for (resource, store) in &self.resources {
            let objects = store.all();
            all.extend(objects.map(|object| (resource.clone(), Arc::clone(object))));
        }
        all
    }

    pub(super) fn events_after(
        &self,
        resource: Option<&Resource>,
        position: u64,
        max: usize,
    ) -> Result<Vec<Arc<StoreEvent>>, Expired> {
        match resource {
            None => self.everything.after(position, max),
            Some(resource) => match self.resources.get(resource) {
                Some(store) => store.watch_cache.after(position, max),
                None if position < self.started_at => Err(Expired {
                    oldest: self.started_at,
                }),
                None => Ok(Vec::new()),
            },
        }
    }

    /// The objects of a resource, created empty if there are none.
    pub(super) fn resource(&mut self, resource: &Resource) -> &mut ResourceStore {
        let (history, started_at) = (self.history, self.started_at);
        self.resources
            .entry(resource.clone())
            .or_insert_with(|| ResourceStore::new(WatchCache::new(history, MAX_BYTES, started_at)))
    }

    /// Fails unless a new object can be inserted.
    pub(super) fn check_free(
        &self,
        resource: &Resource,
        key: &Key,
        namespace: Option<&str>,
    ) -> Result<(), WriteError> {
        namespace.map_or(Ok(()), |namespace| self.check_namespace(namespace))?;
        match self.get(resource, key) {
            Some(_) => Err(WriteError::Exists),
            None => Ok(()),
        }
    }

    /// Fails unless new objects can be inserted into a namespace.
    pub(super) fn check_namespace(&self, namespace: &str) -> Result<(), WriteError> {
        match self.get(&self.namespaces, &Key::new("", namespace)) {
            None => Err(WriteError::NamespaceMissing),
            Some(ns) if object::is_deleting(&ns.object) => Err(WriteError::NamespaceTerminating),
            Some(_) => Ok(()),
        }
    }

    /// Fails unless `current` is the present version.
    pub(super) fn check_current(
        &self,
        resource: &Resource,
        key: &Key,
        current: &Arc<Stored>,
    ) -> Result<(), WriteError> {
        match self.get(resource, key) {
            Some(found) if Arc::ptr_eq(found, current) => Ok(()),
            _ => Err(WriteError::Stale),
        }
    }

    /// Makes a write visible. Returns the senders to send its revision to.
    pub(super) fn apply(
        &mut self,
        resource: &Resource,
        key: Key,
        kind: EventType,
        object: &Arc<Stored>,
    ) -> [watch::Sender<u64>; 2] {
        self.revision = object.revision;
        let store = self.resource(resource);
        let previous = match kind {
            EventType::Deleted => store.remove(&key),
            EventType::Added | EventType::Modified => store.insert(key, Arc::clone(object)),
        };
        let object = Arc::clone(object);
        let event = Arc::new(StoreEvent::new(kind, resource.clone(), object, previous));
        store.watch_cache.push(Arc::clone(&event));
        let head = store.watch_cache.head();
        self.everything.push(event);
        [head, self.everything.head()]
    }
}
