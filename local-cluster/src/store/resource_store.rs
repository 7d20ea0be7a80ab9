//! The objects of one resource in the order of their keys, list queries, and the resource's watch cache.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::key::Key;
use super::watch_cache::WatchCache;
use super::{Expired, Resource, Stored};

#[derive(Debug)]
pub(super) struct ResourceStore {
    objects: BTreeMap<Key, Arc<Stored>>,
    /// The number of objects by namespace.
    counts: HashMap<String, usize>,
    pub(super) watch_cache: WatchCache,
}

/// The differences of an earlier revision from the present; `None` for an object that did not exist.
type PastObjects = BTreeMap<Key, Option<Arc<Stored>>>;

impl ResourceStore {
    pub(super) fn new(watch_cache: WatchCache) -> Self {
        Self {
            objects: BTreeMap::new(),
            counts: HashMap::new(),
            watch_cache,
        }
    }

    /// Inserts or replaces an object. Returns the former version.
    pub(super) fn insert(&mut self, key: Key, object: Arc<Stored>) -> Option<Arc<Stored>> {
        if let Some(slot) = self.objects.get_mut(&key) {
            return Some(std::mem::replace(slot, object));
        }
        *self.counts.entry(object.namespace.clone()).or_default() += 1;
        self.objects.insert(key, object)
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<Stored>> {
        let object = self.objects.remove(key)?;
        if let Some(count) = self.counts.get_mut(&object.namespace) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&object.namespace);
            }
        }
        Some(object)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.objects.values()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.objects.get(key)
    }

    /// The objects of a query, and the total number.
    pub(super) fn find(&self, scan: &Scan<'_>) -> Result<(Vec<Arc<Stored>>, usize), Expired> {
        let keys = Keys::of(&scan.range);
        let past = match scan.at {
            Some(revision) => self.past(&keys, revision)?,
            None => PastObjects::new(),
        };
        // Only the present number of objects is known without counting.
        let total = self.total(scan).filter(|_| past.is_empty());
        let mut result = ScanResult::of(scan);
        let mut past = past.into_iter().peekable();
        for (key, object) in self.objects.range::<str, _>(keys.bounds()) {
            if let Some(total) = total.filter(|_| result.is_full()) {
                return Ok((result.found, total));
            }
            if result.is_complete() {
                break;
            }
            while let Some((_, former)) = past.next_if(|(other, _)| other < key) {
                former.iter().for_each(|object| result.take(object));
            }
            match past.next_if(|(other, _)| other == key) {
                Some((_, former)) => former.iter().for_each(|object| result.take(object)),
                None => result.take(object),
            }
        }
        for (_, former) in past {
            former.iter().for_each(|object| result.take(object));
        }
        Ok((result.found, result.total))
    }

    /// The number of objects of a range, if it is known without counting.
    fn total(&self, scan: &Scan<'_>) -> Option<usize> {
        match scan.range {
            Range { name: Some(_), .. } => None,
            Range { from, .. } if !from.is_empty() => None,
            Range {
                namespace: Some(namespace),
                ..
            } => Some(self.counts.get(namespace).copied().unwrap_or(0)),
            Range { .. } => Some(self.objects.len()),
        }
    }

    /// The differences at a revision: the objects that later events replaced.
    fn past(&self, keys: &Keys, revision: u64) -> Result<PastObjects, Expired> {
        let mut past = PastObjects::new();
        for event in self.watch_cache.after(revision, usize::MAX)?.iter().rev() {
            let object = event.previous.as_ref().unwrap_or(&event.object);
            let key = Key::new(&object.namespace, &object.name);
            if keys.contains(key.as_str()) {
                past.insert(key, event.previous.clone());
            }
        }
        Ok(past)
    }
}

/// Collects the objects of a query, and counts them and the rest.
struct ScanResult {
    found: Vec<Arc<Stored>>,
    total: usize,
    limit: usize,
    counts: bool,
}

impl ScanResult {
    fn of(scan: &Scan<'_>) -> Self {
        Self {
            found: Vec::new(),
            total: 0,
            limit: scan.take.unwrap_or(usize::MAX),
            counts: scan.counts,
        }
    }

    fn take(&mut self, object: &Arc<Stored>) {
        self.total += 1;
        if self.found.len() < self.limit {
            self.found.push(Arc::clone(object));
        }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// Further objects make no difference.
    fn is_complete(&self) -> bool {
        !self.counts && self.total > self.limit
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range<'a> {
    pub(crate) namespace: Option<&'a str>,
    /// The only object, in the namespace or cluster-scoped.
    pub(crate) name: Option<&'a str>,
    /// The first key, within the namespace if there is one.
    pub(crate) from: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) range: Range<'a>,
    /// The revision; `None` for the present one.
    pub(crate) at: Option<u64>,
    /// The maximum number of objects.
    pub(crate) take: Option<usize>,
    /// The objects beyond the maximum are counted.
    pub(crate) counts: bool,
}

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) objects: Vec<Arc<Stored>>,
    pub(crate) revision: u64,
    /// The number of objects of the range; if those beyond the maximum are not counted, at most one more.
    pub(crate) total: usize,
}

/// The keys of a range, as bounds of the sorted map.
#[derive(Debug)]
pub(super) struct Keys {
    first: String,
    /// The first key after the range.
    end: Option<String>,
}

impl Keys {
    pub(super) fn of(range: &Range<'_>) -> Self {
        let (prefix, end) = match range.namespace {
            None => (String::new(), None),
            // '0' follows '/'.
            Some(namespace) => (format!("{namespace}/"), Some(format!("{namespace}0"))),
        };
        let Some(name) = range.name else {
            let first = prefix + range.from;
            return Self { first, end };
        };
        let key = prefix + name;
        Self {
            end: Some(format!("{key}\0")),
            first: key,
        }
    }

    pub(super) fn bounds(&self) -> (Bound<&str>, Bound<&str>) {
        let end = match &self.end {
            // A map panics on a range that ends before it starts.
            Some(end) if *end < self.first => Bound::Excluded(self.first.as_str()),
            Some(end) => Bound::Excluded(end.as_str()),
            None => Bound::Unbounded,
        };
        (Bound::Included(&self.first), end)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        key >= self.first.as_str() && self.end.as_deref().is_none_or(|end| key < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::store::watch_cache::MAX_BYTES;
    use crate::store::{EventType, Resource, StoreEvent};
    use serde_json::json;

    fn stored(namespace: &str, name: &str, revision: u64) -> Arc<Stored> {
        let object = object(json!({"metadata": {"namespace": namespace, "name": name}}));
        Arc::new(Stored::new(object, revision))
    }

    fn write(
        resource_store: &mut ResourceStore,
        namespace: &str,
        name: &str,
        revision: u64,
        deleted: bool,
    ) {
        let key = Key::new(namespace, name);
        let object = stored(namespace, name, revision);
        let previous = if deleted {
            resource_store.remove(&key)
        } else {
            resource_store.insert(key, Arc::clone(&object))
        };
        let kind = match (&previous, deleted) {
            (_, true) => EventType::Deleted,
            (Some(_), _) => EventType::Modified,
            (None, _) => EventType::Added,
        };
        let things = Resource::new("", "things");
        let event = StoreEvent::new(kind, things, object, previous);
        resource_store.watch_cache.push(Arc::new(event));
    }

    fn resource_store() -> ResourceStore {
        let mut resource_store = ResourceStore::new(WatchCache::new(100, MAX_BYTES, 0));
        for (revision, (namespace, name)) in
            [("a", "x"), ("a-b", "x"), ("a", "y"), ("b", "z"), ("a", "w")]
                .into_iter()
                .enumerate()
        {
            write(
                &mut resource_store,
                namespace,
                name,
                revision as u64 + 1,
                false,
            );
        }
        resource_store
    }

    fn find(
        resource_store: &ResourceStore,
        range: Range<'_>,
        at: Option<u64>,
        take: Option<usize>,
    ) -> (Vec<String>, usize) {
        let resource = Resource::new("", "things");
        let scan = Scan {
            resource: &resource,
            range,
            at,
            take,
            counts: true,
        };
        let (found, total) = resource_store.find(&scan).unwrap();
        let text = |o: &Arc<Stored>| format!("{}/{}@{}", o.namespace, o.name, o.revision);
        (found.iter().map(text).collect(), total)
    }

    #[test]
    fn ranges_end_where_their_namespace_ends() {
        let resource_store = resource_store();
        let all = find(&resource_store, Range::default(), None, None);
        let names = ["a-b/x@2", "a/w@5", "a/x@1", "a/y@3", "b/z@4"];
        assert_eq!(all, (names.map(str::to_owned).to_vec(), 5));
        let within = |namespace, name, from, take| {
            let range = Range {
                namespace: Some(namespace),
                name,
                from,
            };
            let (found, total) = find(&resource_store, range, None, take);
            (found.join(" "), total)
        };
        assert_eq!(
            within("a", None, "", None),
            ("a/w@5 a/x@1 a/y@3".to_owned(), 3)
        );
        assert_eq!(within("a", None, "w\0", Some(1)), ("a/x@1".to_owned(), 2));
        assert_eq!(within("a", None, "z", None), (String::new(), 0));
        assert_eq!(within("a", None, "", Some(1)), ("a/w@5".to_owned(), 3));
        assert_eq!(within("a", Some("x"), "", None), ("a/x@1".to_owned(), 1));
        assert_eq!(within("a", Some("v"), "", None), (String::new(), 0));
        assert_eq!(within("c", None, "", None), (String::new(), 0));
    }

    #[test]
    fn earlier_revisions_are_reconstructed_from_events() {
        let mut resource_store = resource_store();
        write(&mut resource_store, "a", "x", 6, false);
        write(&mut resource_store, "a", "x", 7, false);
        write(&mut resource_store, "a", "y", 8, true);
        write(&mut resource_store, "a", "a", 9, false);
        write(&mut resource_store, "a", "zz", 10, false);
        write(&mut resource_store, "b", "z", 11, true);
        let all = |at| {
            find(&resource_store, Range::default(), Some(at), None)
                .0
                .join(" ")
        };
        assert_eq!(all(5), "a-b/x@2 a/w@5 a/x@1 a/y@3 b/z@4");
        assert_eq!(all(6), "a-b/x@2 a/w@5 a/x@6 a/y@3 b/z@4");
        assert_eq!(all(8), "a-b/x@2 a/w@5 a/x@7 b/z@4");
        assert_eq!(all(11), "a-b/x@2 a/a@9 a/w@5 a/x@7 a/zz@10");
        assert_eq!(all(0), "");
        let count = |namespace| resource_store.counts.get(namespace).copied();
        assert_eq!(
            (count("a"), count("a-b"), count("b")),
            (Some(4), Some(1), None)
        );
        let range = Range {
            namespace: Some("a"),
            from: "x",
            name: None,
        };
        assert_eq!(
            find(&resource_store, range, Some(5), Some(1)),
            (vec!["a/x@1".to_owned()], 2)
        );
        let one = Range {
            namespace: Some("a"),
            name: Some("y"),
            from: "",
        };
        assert_eq!(find(&resource_store, one, Some(7), None).0, ["a/y@3"]);
        assert_eq!(
            find(&resource_store, one, None, None).0,
            Vec::<String>::new()
        );
    }
}
