//! Everything there is, as one value: what the store's lock guards.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::journal::{Journal, MAX_BYTES};
use super::key::Key;
use super::shelf::Shelf;
use super::{Change, ChangeKind, Expired, Found, InsertError, Resource, Scan, Stored, WriteError};
use crate::object;

/// All objects, and what happened to them lately.
#[derive(Debug)]
pub(super) struct State {
    pub(super) revision: u64,
    shelves: HashMap<Resource, Shelf>,
    pub(super) everything: Journal,
    namespaces: Resource,
    /// How many changes are kept of each resource.
    history: usize,
    /// What happened up to this revision is not known, only what came of it.
    began: u64,
}

impl State {
    /// Nothing, at a revision.
    pub(super) fn new(history: usize, revision: u64) -> Self {
        Self {
            revision,
            shelves: HashMap::new(),
            everything: Journal::new(history.saturating_mul(4), 2 * MAX_BYTES, revision),
            namespaces: Resource::new("", "namespaces"),
            history,
            began: revision,
        }
    }

    /// Puts an object where it was in an earlier life: nobody is told.
    pub(super) fn restore(&mut self, resource: &Resource, stored: Arc<Stored>) {
        let key = Key::new(&stored.namespace, &stored.name);
        self.shelf(resource).insert(key, stored);
    }

    pub(super) fn get(&self, resource: &Resource, key: &Key) -> Option<&Arc<Stored>> {
        self.shelves.get(resource)?.get(key)
    }

    pub(super) fn find(&self, scan: &Scan<'_>) -> Result<Found, Expired> {
        let (objects, total) = match self.shelves.get(scan.resource) {
            Some(shelf) => shelf.find(scan)?,
            None if scan.at.is_some_and(|at| at < self.began) => {
                return Err(Expired { oldest: self.began });
            }
            None => (Vec::new(), 0),
        };
        Ok(Found {
            objects,
            revision: scan.at.unwrap_or(self.revision),
            total,
        })
    }

    /// Everything there is.
    pub(super) fn all(&self) -> Vec<(Resource, Arc<Stored>)> {
        let mut all = Vec::new();
        for (resource, shelf) in &self.shelves {
            let objects = shelf.all();
            all.extend(objects.map(|object| (resource.clone(), Arc::clone(object))));
        }
        all
    }

    /// The changes of a resource, or of all, after a position.
    pub(super) fn changes_after(
        &self,
        resource: Option<&Resource>,
        position: u64,
        max: usize,
    ) -> Result<Vec<Arc<Change>>, Expired> {
        match resource {
            None => self.everything.after(position, max),
            Some(resource) => match self.shelves.get(resource) {
                Some(shelf) => shelf.journal.after(position, max),
                None if position < self.began => Err(Expired { oldest: self.began }),
                None => Ok(Vec::new()),
            },
        }
    }

    /// The objects of one resource; they exist, empty, from now on.
    pub(super) fn shelf(&mut self, resource: &Resource) -> &mut Shelf {
        let (history, began) = (self.history, self.began);
        self.shelves
            .entry(resource.clone())
            .or_insert_with(|| Shelf::new(Journal::new(history, MAX_BYTES, began)))
    }

    /// Whether there is a place for a new object.
    pub(super) fn check_free(
        &self,
        resource: &Resource,
        key: &Key,
        namespace: Option<&str>,
    ) -> Result<(), InsertError> {
        if let Some(namespace) = namespace {
            match self.get(&self.namespaces, &Key::new("", namespace)) {
                None => return Err(InsertError::NamespaceMissing),
                Some(ns) if object::is_deleting(&ns.object) => {
                    return Err(InsertError::NamespaceTerminating);
                }
                Some(_) => {}
            }
        }
        match self.get(resource, key) {
            Some(_) => Err(InsertError::Exists),
            None => Ok(()),
        }
    }

    /// Whether an object is still as it was read.
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

    /// Makes a write visible. Returns whom to tell.
    pub(super) fn apply(
        &mut self,
        resource: &Resource,
        key: Key,
        kind: ChangeKind,
        object: &Arc<Stored>,
    ) -> [watch::Sender<u64>; 2] {
        self.revision = object.revision;
        let shelf = self.shelf(resource);
        let previous = match kind {
            ChangeKind::Deleted => shelf.remove(&key),
            ChangeKind::Added | ChangeKind::Modified => shelf.insert(key, Arc::clone(object)),
        };
        let object = Arc::clone(object);
        let change = Arc::new(Change::new(kind, resource.clone(), object, previous));
        shelf.journal.push(Arc::clone(&change));
        let head = shelf.journal.head();
        self.everything.push(change);
        [head, self.everything.head()]
    }
}
