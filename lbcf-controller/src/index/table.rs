//! The objects of one kind, and which of two states of an object is the newer one.
//!
//! The same change reaches us twice: as the answer to our write and through the watch, in either
//! order. Both carry a resourceVersion, which only grows, so the older state is never taken for
//! the newer one, and an object that our write removed does not come back from an event that was
//! still on its way.

use super::{Change, Lookup};
use crate::key::ObjectKey;
use kube::Resource;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// An object with a name and a version.
pub(crate) trait Versioned {
    /// Its namespace and name.
    fn key(&self) -> ObjectKey;
    /// Its resourceVersion; 0 where the server's is no number.
    fn version(&self) -> u64;
    /// Whether this is the last state of an object that is gone.
    fn is_gone(&self) -> bool;
}

impl<K: Resource> Versioned for K {
    fn key(&self) -> ObjectKey {
        ObjectKey::of(self)
    }

    fn version(&self) -> u64 {
        self.meta()
            .resource_version
            .as_deref()
            .and_then(|version| version.parse().ok())
            .unwrap_or(0)
    }

    fn is_gone(&self) -> bool {
        let meta = self.meta();
        meta.deletion_timestamp.is_some() && meta.finalizers.as_ref().is_none_or(Vec::is_empty)
    }
}

/// An object before and after a change.
#[derive(Debug)]
pub(super) struct Diff<T> {
    pub(super) old: Option<Arc<T>>,
    pub(super) new: Option<Arc<T>>,
}

/// The objects of one kind.
#[derive(Debug)]
pub(super) struct Table<T> {
    objects: HashMap<ObjectKey, Arc<T>>,
    unreadable: HashSet<ObjectKey>,
    /// The newest version that the watch told of: everything up to it has been seen.
    seen: u64,
    /// What our writes removed and the watch may still tell older news of.
    removed: HashMap<ObjectKey, u64>,
    listing: Option<Listing>,
}

/// A list under way.
#[derive(Debug)]
struct Listing {
    /// The newest version that was known when it was asked for, by a write's answer maybe: the
    /// list is of later than that.
    asked_at: u64,
    /// The names that it has given.
    named: HashSet<ObjectKey>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            objects: HashMap::new(),
            unreadable: HashSet::new(),
            seen: 0,
            removed: HashMap::new(),
            listing: None,
        }
    }
}

impl<T: Versioned> Table<T> {
    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<T>> {
        match self.objects.get(key) {
            Some(object) => Lookup::Found(Arc::clone(object)),
            None if self.unreadable.contains(key) => Lookup::Unreadable,
            None => Lookup::Missing,
        }
    }

    pub(super) fn peek(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.objects.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.objects.keys()
    }

    pub(super) fn has_unreadable(&self) -> bool {
        !self.unreadable.is_empty()
    }

    /// Takes a change in; gives what it changed, which is nothing for old news.
    pub(super) fn change(&mut self, change: Change<T>) -> Vec<(ObjectKey, Diff<T>)> {
        match change {
            Change::ListBegins => {
                let versions = self.objects.values().map(|object| object.version());
                self.listing = Some(Listing {
                    asked_at: versions.max().unwrap_or(0),
                    named: HashSet::new(),
                });
                Vec::new()
            }
            Change::Listed(object) => {
                let key = object.key();
                if let Some(listing) = &mut self.listing {
                    listing.named.insert(key.clone());
                }
                self.see(object.version());
                self.store(key, object).into_iter().collect()
            }
            Change::Unreadable(key) => {
                if let Some(listing) = &mut self.listing {
                    listing.named.insert(key.clone());
                }
                self.unreadable.insert(key.clone());
                self.take(key).into_iter().collect()
            }
            Change::ListEnds => self.end_list(),
            Change::Applied(object) => {
                self.see(object.version());
                let key = object.key();
                self.store(key, object).into_iter().collect()
            }
            Change::Deleted(object) => {
                let key = object.key();
                self.see(object.version());
                self.unreadable.remove(&key);
                // A namesake that we have made since is not the one that went.
                let is_older = self.objects.get(&key).is_none_or(|known| {
                    known.version() <= object.version() || object.version() == 0
                });
                if is_older {
                    self.take(key).into_iter().collect()
                } else {
                    Vec::new()
                }
            }
            Change::Gone(key) => {
                self.unreadable.remove(&key);
                self.take(key).into_iter().collect()
            }
            Change::Absent(key, version) => {
                // A namesake may have been made meanwhile.
                match self.objects.get(&key) {
                    Some(known) if known.version() <= version => {
                        self.removed.insert(key.clone(), version);
                        self.take(key).into_iter().collect()
                    }
                    _ => Vec::new(),
                }
            }
            Change::Written(object) => {
                let (key, version) = (object.key(), object.version());
                let is_newer = |known: &Arc<T>| version != 0 && known.version() > version;
                if object.is_gone() {
                    // Gone it is, whatever version the answer bears: API servers give the last
                    // one that was stored. Only a namesake may be newer.
                    if self.objects.get(&key).is_some_and(is_newer) {
                        return Vec::new();
                    }
                    self.removed.insert(key.clone(), version);
                    return self.take(key).into_iter().collect();
                }
                if version != 0 && version <= self.seen {
                    return Vec::new(); // The watch has told of it, and maybe of more.
                }
                self.store(key, object).into_iter().collect()
            }
        }
    }

    fn see(&mut self, version: u64) {
        if version > self.seen {
            self.seen = version;
            if !self.removed.is_empty() {
                // The state that the removal's answer bore may be told of just now.
                self.removed.retain(|_, removed| *removed >= version);
            }
        }
    }

    fn store(&mut self, key: ObjectKey, object: T) -> Option<(ObjectKey, Diff<T>)> {
        let version = object.version();
        if self
            .removed
            .get(&key)
            .is_some_and(|removed| version <= *removed)
        {
            return None;
        }
        if self
            .objects
            .get(&key)
            .is_some_and(|known| version != 0 && version <= known.version())
        {
            return None;
        }
        self.unreadable.remove(&key);
        let new = Arc::new(object);
        let old = self.objects.insert(key.clone(), Arc::clone(&new));
        Some((
            key,
            Diff {
                old,
                new: Some(new),
            },
        ))
    }

    fn take(&mut self, key: ObjectKey) -> Option<(ObjectKey, Diff<T>)> {
        let old = self.objects.remove(&key)?;
        Some((
            key,
            Diff {
                old: Some(old),
                new: None,
            },
        ))
    }

    fn end_list(&mut self) -> Vec<(ObjectKey, Diff<T>)> {
        let Some(Listing { asked_at, named }) = self.listing.take() else {
            return Vec::new();
        };
        self.see(asked_at);
        self.unreadable.retain(|key| named.contains(key));
        // What we made while the list was on its way is newer than the list. What we made before
        // is not, even where the list names nothing as new as that: it went together with its
        // last version.
        let gone: Vec<ObjectKey> = self
            .objects
            .iter()
            .filter(|(key, object)| !named.contains(*key) && object.version() <= self.seen)
            .map(|(key, _)| key.clone())
            .collect();
        gone.into_iter().filter_map(|key| self.take(key)).collect()
    }
}
