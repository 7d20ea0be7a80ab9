//! The store: a shelf of objects per resource, under one short lock.
//!
//! Every write is compare-and-swap: the caller decides on an object it read, without a lock, and
//! [`Store::replace`] refuses when somebody wrote in between. Nothing is computed, serialised or
//! awaited while the lock is held.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;

use super::journal::Journal;
use super::{Change, ChangeKind, Expired, Resource, Stored};
use crate::object::{self, Object};

type Key = (String, String);

type Everything = (Vec<(Resource, Arc<Stored>)>, u64, watch::Receiver<u64>);

/// Why an object could not be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertError {
    Exists,
    NamespaceMissing,
    NamespaceTerminating,
}

/// Somebody wrote the object since it was read; or removed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stale;

/// All objects, and what happened to them lately.
#[derive(Debug)]
pub(crate) struct Store {
    inner: RwLock<Inner>,
    history: usize,
}

#[derive(Debug)]
struct Inner {
    revision: u64,
    shelves: HashMap<Resource, Shelf>,
    everything: Journal,
}

#[derive(Debug)]
struct Shelf {
    objects: BTreeMap<Key, Arc<Stored>>,
    journal: Journal,
}

impl Store {
    /// An empty store that keeps `history` changes per resource.
    pub(crate) fn new(history: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: RwLock::new(Inner {
                // Clients take version 0 for "any" and 1 is often a default: start above both.
                revision: 1,
                shelves: HashMap::new(),
                everything: Journal::new(history.saturating_mul(4)),
            }),
            history,
        })
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.read().revision
    }

    /// One object.
    pub(crate) fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Stored>> {
        let key = (namespace.to_owned(), name.to_owned());
        self.read()
            .shelves
            .get(resource)?
            .objects
            .get(&key)
            .cloned()
    }

    /// The objects of a resource, of one namespace or of all, and the revision at which this was so.
    pub(crate) fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> (Vec<Arc<Stored>>, u64) {
        let inner = self.read();
        let objects = inner
            .shelves
            .get(resource)
            .map(|shelf| shelf.range(namespace))
            .unwrap_or_default();
        (objects, inner.revision)
    }

    /// The objects as they were at an earlier revision, by undoing what came later.
    pub(crate) fn list_at(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        revision: u64,
    ) -> Result<Vec<Arc<Stored>>, Expired> {
        let (objects, later) = {
            let inner = self.read();
            let Some(shelf) = inner.shelves.get(resource) else {
                return Ok(Vec::new());
            };
            (
                shelf.range(namespace),
                shelf.journal.after(revision, usize::MAX)?,
            )
        };
        let key = |o: &Stored| (o.namespace.clone(), o.name.clone());
        let mut then: BTreeMap<Key, Arc<Stored>> =
            objects.into_iter().map(|o| (key(&o), o)).collect();
        for change in later.iter().rev() {
            if namespace.is_some_and(|ns| ns != change.object.namespace) {
                continue;
            }
            match &change.previous {
                Some(previous) => then.insert(key(previous), Arc::clone(previous)),
                None => then.remove(&key(&change.object)),
            };
        }
        Ok(then.into_values().collect())
    }

    /// Stores a new object. The namespace of a namespaced one must exist and stay.
    pub(crate) fn insert(
        &self,
        resource: &Resource,
        new: Object,
        namespaced: bool,
    ) -> Result<Arc<Stored>, InsertError> {
        let key = (
            object::namespace(&new).to_owned(),
            object::name(&new).to_owned(),
        );
        let mut inner = self.write();
        if namespaced {
            inner.check_namespace(&key.0)?;
        }
        if inner
            .shelves
            .get(resource)
            .is_some_and(|shelf| shelf.objects.contains_key(&key))
        {
            return Err(InsertError::Exists);
        }
        let stored = Arc::new(Stored::new(new, inner.advance()));
        let shelf = inner.shelf(resource, self.history);
        shelf.objects.insert(key, Arc::clone(&stored));
        inner.record(resource, ChangeKind::Added, Arc::clone(&stored), None);
        Ok(stored)
    }

    /// Stores the next version of an object that was read as `current`.
    pub(crate) fn replace(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        next: Object,
    ) -> Result<Arc<Stored>, Stale> {
        let key = (current.namespace.clone(), current.name.clone());
        let mut inner = self.write();
        inner.check_current(resource, &key, current)?;
        let stored = Arc::new(Stored::new(next, inner.advance()));
        let shelf = inner.shelf(resource, self.history);
        shelf.objects.insert(key, Arc::clone(&stored));
        inner.record(
            resource,
            ChangeKind::Modified,
            Arc::clone(&stored),
            Some(Arc::clone(current)),
        );
        Ok(stored)
    }

    /// Removes an object that was read as `current`; its last state may differ from that.
    pub(crate) fn remove(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        last: Object,
    ) -> Result<Arc<Stored>, Stale> {
        let key = (current.namespace.clone(), current.name.clone());
        let mut inner = self.write();
        inner.check_current(resource, &key, current)?;
        let stored = Arc::new(Stored::new(last, inner.advance()));
        inner.shelf(resource, self.history).objects.remove(&key);
        inner.record(
            resource,
            ChangeKind::Deleted,
            Arc::clone(&stored),
            Some(Arc::clone(current)),
        );
        Ok(stored)
    }

    /// Wakes when a resource is written.
    pub(crate) fn head_of(&self, resource: &Resource) -> watch::Receiver<u64> {
        let mut inner = self.write();
        inner.shelf(resource, self.history).journal.subscribe()
    }

    /// Everything there is, as of which revision, and what wakes at any write.
    pub(super) fn everything(&self) -> Everything {
        let inner = self.read();
        let mut objects = Vec::new();
        for (resource, shelf) in &inner.shelves {
            objects.extend(
                shelf
                    .objects
                    .values()
                    .map(|o| (resource.clone(), Arc::clone(o))),
            );
        }
        (objects, inner.revision, inner.everything.subscribe())
    }

    /// The changes after a position, and the revision up to which these are all.
    pub(super) fn changes_after(
        &self,
        resource: Option<&Resource>,
        position: u64,
        max: usize,
    ) -> Result<(Vec<Arc<Change>>, u64), Expired> {
        let inner = self.read();
        let changes = match resource {
            None => inner.everything.after(position, max)?,
            Some(resource) => match inner.shelves.get(resource) {
                Some(shelf) => shelf.journal.after(position, max)?,
                None => Vec::new(),
            },
        };
        Ok((changes, inner.revision.max(position)))
    }
}

impl Inner {
    fn advance(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    fn shelf(&mut self, resource: &Resource, history: usize) -> &mut Shelf {
        self.shelves
            .entry(resource.clone())
            .or_insert_with(|| Shelf {
                objects: BTreeMap::new(),
                journal: Journal::new(history),
            })
    }

    fn check_namespace(&self, namespace: &str) -> Result<(), InsertError> {
        let key = (String::new(), namespace.to_owned());
        let found = self
            .shelves
            .get(&Resource::new("", "namespaces"))
            .and_then(|shelf| shelf.objects.get(&key));
        match found {
            None => Err(InsertError::NamespaceMissing),
            Some(ns) if object::is_deleting(&ns.object) => Err(InsertError::NamespaceTerminating),
            Some(_) => Ok(()),
        }
    }

    fn check_current(
        &self,
        resource: &Resource,
        key: &Key,
        current: &Arc<Stored>,
    ) -> Result<(), Stale> {
        match self.shelves.get(resource).and_then(|s| s.objects.get(key)) {
            Some(found) if Arc::ptr_eq(found, current) => Ok(()),
            _ => Err(Stale),
        }
    }

    fn record(
        &mut self,
        resource: &Resource,
        kind: ChangeKind,
        object: Arc<Stored>,
        previous: Option<Arc<Stored>>,
    ) {
        let change = Arc::new(Change {
            kind,
            resource: resource.clone(),
            object,
            previous,
        });
        if let Some(shelf) = self.shelves.get_mut(resource) {
            shelf.journal.push(Arc::clone(&change));
        }
        self.everything.push(change);
    }
}

impl Shelf {
    fn range(&self, namespace: Option<&str>) -> Vec<Arc<Stored>> {
        match namespace {
            None => self.objects.values().cloned().collect(),
            Some(namespace) => {
                let first = (namespace.to_owned(), String::new());
                self.objects
                    .range((Bound::Included(first), Bound::Unbounded))
                    .take_while(|((ns, _), _)| ns == namespace)
                    .map(|(_, object)| Arc::clone(object))
                    .collect()
            }
        }
    }
}
