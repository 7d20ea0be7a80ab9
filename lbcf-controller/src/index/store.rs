//! The objects of one kind, of which the newest known state is kept.
//!
//! The same change arrives twice: in the response to a write of this process and through the watch,
//! in either order. Both carry a resourceVersion, which only grows, so that an older state never
//! replaces a newer one, and an object that a write removed does not return with a watch event
//! that was still on its way.
//!
//! Versions go back only when the cluster is restored from a backup. Lists are read from the
//! API server's storage, never from a cache that may trail it. So what a list contains replaces
//! all states that were known before it was requested, older or newer.

use crate::api::ObjectKey;
use kube::Resource;
use kube::api::ObjectMeta;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A change of a store. The first five are those of kube's watcher.
#[derive(Debug)]
pub(crate) enum StoreEvent<T> {
    /// A watch begins to list all objects.
    Init,
    InitApply(T),
    /// The list is complete: objects that it did not contain do not exist.
    InitDone,
    Apply(T),
    Delete(T),
    /// A listed or changed object cannot be parsed; only its name is known.
    Unreadable(ObjectKey),
    UnreadableDelete(ObjectKey),
    /// The response to a write of this process, which arrives before or after the watch event.
    Written(T),
    /// A state that this process read live, outside of the watch. Another writer may have changed it.
    Read(T),
    /// The API server responded that the object does not exist, of which this version was known
    /// when it was read. A watch that had to list again may never report the deletion.
    NotFound(ObjectKey, u64),
}

impl<T> StoreEvent<T> {
    /// The object that the event adds or changes.
    pub(super) fn object_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::InitApply(object)
            | Self::Apply(object)
            | Self::Written(object)
            | Self::Read(object) => Some(object),
            _ => None,
        }
    }
}

/// The result of looking up an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lookup<T> {
    Found(T),
    Missing,
    /// It exists but cannot be parsed, so that nothing can be concluded from it.
    Unreadable,
}

pub(crate) trait Versioned {
    fn key(&self) -> ObjectKey;
    /// The resourceVersion; 0 if the API server's is not a number.
    fn version(&self) -> u64;
    /// True if this is the last state of an object that was removed.
    fn is_removed(&self) -> bool {
        false
    }
}

impl<K: Resource> Versioned for K {
    fn key(&self) -> ObjectKey {
        ObjectKey::of(self)
    }

    fn version(&self) -> u64 {
        version_of(self.meta())
    }

    fn is_removed(&self) -> bool {
        let meta = self.meta();
        meta.deletion_timestamp.is_some() && meta.finalizers.as_ref().is_none_or(Vec::is_empty)
    }
}

pub(super) fn version_of(metadata: &ObjectMeta) -> u64 {
    let version = metadata.resource_version.as_deref();
    version.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// An object before and after an event.
#[derive(Debug)]
pub(super) struct Diff<T> {
    pub(super) old: Option<Arc<T>>,
    pub(super) new: Option<Arc<T>>,
}

impl<T> Diff<T> {
    /// True if the object was created or deleted, or its two states differ by this function.
    pub(super) fn is_change(&self, differ: impl Fn(&T, &T) -> bool) -> bool {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => differ(old, new),
            _ => true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Store<T> {
    objects: HashMap<ObjectKey, Arc<T>>,
    unreadable: HashSet<ObjectKey>,
    /// The newest version that the watch reported: everything up to it is known.
    watched_version: u64,
    /// The version that the watch reported last, or the newest of the list with which versions begin again.
    last_reported: u64,
    /// Objects that writes of this process removed, of which the watch may still report older
    /// states.
    removed: HashMap<ObjectKey, u64>,
    listing: Option<Listing>,
    /// True if the versions that are known say nothing about those of the next list, or of the one
    /// that is being received.
    forgets_versions: bool,
}

/// A list that is not complete.
#[derive(Debug)]
struct Listing {
    /// The newest version that was known when the list was requested, which is newer unless the
    /// cluster was restored.
    requested_at: u64,
    listed: HashSet<ObjectKey>,
    /// The newest version in the list.
    newest: u64,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            objects: HashMap::new(),
            unreadable: HashSet::new(),
            watched_version: 0,
            last_reported: 0,
            removed: HashMap::new(),
            listing: None,
            forgets_versions: false,
        }
    }
}

impl<T: Versioned> Store<T> {
    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<T>> {
        match self.objects.get(key) {
            Some(object) => Lookup::Found(Arc::clone(object)),
            None if self.unreadable.contains(key) => Lookup::Unreadable,
            None => Lookup::Missing,
        }
    }

    pub(super) fn find(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.objects.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.objects.keys()
    }

    pub(super) fn has_unreadable(&self) -> bool {
        !self.unreadable.is_empty()
    }

    /// Makes the next list replace all that is known, and versions begin again with it. No write of
    /// this process may be in flight until the list is complete.
    pub(super) fn forget_versions(&mut self) {
        self.forgets_versions = true;
    }

    /// The objects that exist and cannot be parsed.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = &ObjectKey> {
        self.unreadable.iter()
    }

    /// Applies an event; returns what it changed, which is nothing if newer states are known.
    pub(super) fn apply(&mut self, event: StoreEvent<T>) -> Vec<(ObjectKey, Diff<T>)> {
        let change = match event {
            StoreEvent::Init => {
                let versions = self.objects.values().map(|object| object.version());
                self.listing = Some(Listing {
                    requested_at: versions.max().unwrap_or(0),
                    listed: HashSet::new(),
                    newest: 0,
                });
                // The list is requested after the responses that these objects were removed.
                self.removed.clear();
                None
            }
            StoreEvent::InitApply(object) => {
                let key = object.key();
                self.listed(&key);
                self.insert_listed(key, object)
            }
            StoreEvent::Unreadable(key) => {
                self.listed(&key);
                self.unreadable.insert(key.clone());
                self.remove(key)
            }
            StoreEvent::InitDone => return self.finish_list(),
            StoreEvent::Apply(object) => {
                let version = object.version();
                if version != 0 && version < self.last_reported {
                    return Vec::new(); // It was reported before, and the object may be gone since.
                }
                self.reported(version);
                self.insert(object.key(), object)
            }
            StoreEvent::Delete(object) => {
                let (key, version) = (object.key(), object.version());
                self.reported(version);
                self.unreadable.remove(&key);
                match self.objects.get(&key) {
                    // A newer object of the same name is not the deleted one.
                    Some(known) if version != 0 && known.version() > version => None,
                    _ => self.remove(key),
                }
            }
            StoreEvent::UnreadableDelete(key) => {
                self.unreadable.remove(&key);
                self.remove(key)
            }
            StoreEvent::NotFound(key, version) => {
                // Another object of this name may have been created since.
                match self.objects.get(&key) {
                    Some(known) if known.version() <= version => {
                        self.removed.insert(key.clone(), version);
                        self.remove(key)
                    }
                    _ => None,
                }
            }
            StoreEvent::Written(object) | StoreEvent::Read(object) => self.written(object),
        };
        change.into_iter().collect()
    }

    fn written(&mut self, object: T) -> Option<(ObjectKey, Diff<T>)> {
        let (key, version) = (object.key(), object.version());
        let is_newer = |known: &Arc<T>| version != 0 && known.version() > version;
        if object.is_removed() {
            // It is removed whatever its version, since API servers return the last one that was
            // stored. Only another object of the same name may be newer.
            if self.objects.get(&key).is_some_and(is_newer) {
                return None;
            }
            self.removed.insert(key.clone(), version);
            return self.remove(key);
        }
        if version != 0 && version <= self.watched_version {
            return None; // The watch has reported it, or a newer state.
        }
        self.insert(key, object)
    }

    fn listed(&mut self, key: &ObjectKey) {
        if let Some(listing) = &mut self.listing {
            listing.listed.insert(key.clone());
        }
    }

    fn insert_listed(&mut self, key: ObjectKey, object: T) -> Option<(ObjectKey, Diff<T>)> {
        let version = object.version();
        if let Some(listing) = &mut self.listing {
            listing.newest = listing.newest.max(version);
            // A state that this process wrote while the list was on its way may be newer.
            let known = self.objects.get(&key).map(|known| known.version());
            let known = known.filter(|known| *known <= listing.requested_at);
            self.forgets_versions |= known.is_some_and(|known| version < known);
            if self.forgets_versions && known.is_some() {
                return Some(self.replace(key, object));
            }
        }
        self.watched(version);
        self.insert(key, object)
    }

    /// Advances the version of the watch, which is in order.
    fn reported(&mut self, version: u64) {
        self.last_reported = self.last_reported.max(version);
        self.watched(version);
    }

    fn watched(&mut self, version: u64) {
        if version > self.watched_version {
            self.watched_version = version;
            if !self.removed.is_empty() {
                // The removed state itself may be reported only now.
                self.removed.retain(|_, removed| *removed >= version);
            }
        }
    }

    fn insert(&mut self, key: ObjectKey, object: T) -> Option<(ObjectKey, Diff<T>)> {
        let version = object.version();
        let removed = self.removed.get(&key);
        let known = self.objects.get(&key);
        if removed.is_some_and(|removed| version <= *removed)
            || known.is_some_and(|known| version != 0 && version <= known.version())
        {
            return None;
        }
        Some(self.replace(key, object))
    }

    fn replace(&mut self, key: ObjectKey, object: T) -> (ObjectKey, Diff<T>) {
        self.unreadable.remove(&key);
        let new = Arc::new(object);
        let old = self.objects.insert(key.clone(), Arc::clone(&new));
        let new = Some(new);
        (key, Diff { old, new })
    }

    fn remove(&mut self, key: ObjectKey) -> Option<(ObjectKey, Diff<T>)> {
        let old = Some(self.objects.remove(&key)?);
        Some((key, Diff { old, new: None }))
    }

    fn finish_list(&mut self) -> Vec<(ObjectKey, Diff<T>)> {
        let Some(Listing {
            requested_at,
            listed,
            newest,
        }) = self.listing.take()
        else {
            return Vec::new();
        };
        self.last_reported = newest;
        self.watched(requested_at);
        let known_until = self.watched_version;
        if std::mem::take(&mut self.forgets_versions) {
            self.watched_version = newest;
        }
        self.unreadable.retain(|key| listed.contains(key));
        // Objects that this process created while the list was on its way are newer than the list.
        // Those created before are not, even if the list contains no version as new as theirs.
        let removed: Vec<ObjectKey> = self
            .objects
            .iter()
            .filter(|(key, object)| !listed.contains(*key) && object.version() <= known_until)
            .map(|(key, _)| key.clone())
            .collect();
        removed
            .into_iter()
            .filter_map(|key| self.remove(key))
            .collect()
    }
}

#[cfg(test)]
mod tests;
