//! The objects of one resource, in the order of their keys, and what happened to them lately.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::journal::Journal;
use super::key::Key;
use super::scan::{Keys, Scan};
use super::{Expired, Range, Stored};

/// The objects of one resource.
#[derive(Debug)]
pub(super) struct Shelf {
    objects: BTreeMap<Key, Arc<Stored>>,
    /// How many objects a namespace has.
    counts: HashMap<String, usize>,
    pub(super) journal: Journal,
}

/// What was where at an earlier revision, as far as it was something else; `None` for nothing.
type Past = BTreeMap<Key, Option<Arc<Stored>>>;

impl Shelf {
    pub(super) fn new(journal: Journal) -> Self {
        Self {
            objects: BTreeMap::new(),
            counts: HashMap::new(),
            journal,
        }
    }

    /// Puts an object in its place. Returns what was there.
    pub(super) fn insert(&mut self, key: Key, object: Arc<Stored>) -> Option<Arc<Stored>> {
        if let Some(place) = self.objects.get_mut(&key) {
            return Some(std::mem::replace(place, object));
        }
        match self.counts.get_mut(&object.namespace) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(object.namespace.clone(), 1);
            }
        }
        self.objects.insert(key, object)
    }

    /// Takes an object away.
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

    /// All objects.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.objects.values()
    }

    /// One object.
    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.objects.get(key)
    }

    /// The objects of a range, as many as are wanted, and how many there are.
    pub(super) fn find(&self, scan: &Scan<'_>) -> Result<(Vec<Arc<Stored>>, usize), Expired> {
        let keys = Keys::of(&scan.range);
        let past = match scan.at {
            Some(revision) => self.past(&keys, revision)?,
            None => Past::new(),
        };
        let wanted = Wanted::of(scan);
        if past.is_empty() {
            let total = self.total(scan);
            return Ok(self.present(&keys, wanted, total));
        }
        Ok(self.merged(&keys, past, wanted))
    }

    /// How many objects a range has, where that is known without counting.
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

    fn present(
        &self,
        keys: &Keys,
        mut wanted: Wanted,
        total: Option<usize>,
    ) -> (Vec<Arc<Stored>>, usize) {
        let mut range = self.objects.range::<str, _>(keys.bounds());
        while !wanted.is_enough() {
            if let Some(total) = total.filter(|_| wanted.is_full()) {
                return (wanted.found, total);
            }
            let Some((_, object)) = range.next() else {
                break;
            };
            wanted.take(object);
        }
        (wanted.found, wanted.total)
    }

    /// What was different at a revision: what every later change replaced, the first one last.
    fn past(&self, keys: &Keys, revision: u64) -> Result<Past, Expired> {
        let mut past = Past::new();
        for change in self.journal.after(revision, usize::MAX)?.iter().rev() {
            let place = change.previous.as_ref().unwrap_or(&change.object);
            let key = Key::new(&place.namespace, &place.name);
            if keys.contains(key.as_str()) {
                past.insert(key, change.previous.clone());
            }
        }
        Ok(past)
    }

    fn merged(&self, keys: &Keys, past: Past, mut wanted: Wanted) -> (Vec<Arc<Stored>>, usize) {
        let mut past = past.into_iter().peekable();
        for (key, object) in self.objects.range::<str, _>(keys.bounds()) {
            while let Some((_, gone)) = past.next_if(|(other, _)| other < key) {
                gone.iter().for_each(|object| wanted.take(object));
            }
            match past.next_if(|(other, _)| other == key) {
                Some((_, other)) => other.iter().for_each(|object| wanted.take(object)),
                None => wanted.take(object),
            }
            if wanted.is_enough() {
                break;
            }
        }
        for (_, gone) in past {
            gone.iter().for_each(|object| wanted.take(object));
        }
        (wanted.found, wanted.total)
    }
}

/// Collects what is wanted, and counts it and the rest.
struct Wanted {
    found: Vec<Arc<Stored>>,
    total: usize,
    limit: usize,
    counts: bool,
}

impl Wanted {
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

    /// Whether nothing that comes now makes a difference.
    fn is_enough(&self) -> bool {
        !self.counts && self.total > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::store::journal::MAX_BYTES;
    use crate::store::{Change, ChangeKind, Resource};
    use serde_json::json;

    fn stored(namespace: &str, name: &str, revision: u64) -> Arc<Stored> {
        let object = object(json!({"metadata": {"namespace": namespace, "name": name}}));
        Arc::new(Stored::new(object, revision))
    }

    fn write(shelf: &mut Shelf, namespace: &str, name: &str, revision: u64, goes: bool) {
        let key = Key::new(namespace, name);
        let object = stored(namespace, name, revision);
        let previous = if goes {
            shelf.remove(&key)
        } else {
            shelf.insert(key, Arc::clone(&object))
        };
        let kind = match (&previous, goes) {
            (_, true) => ChangeKind::Deleted,
            (Some(_), _) => ChangeKind::Modified,
            (None, _) => ChangeKind::Added,
        };
        let things = Resource::new("", "things");
        let change = Change::new(kind, things, object, previous);
        shelf.journal.push(Arc::new(change));
    }

    fn shelf() -> Shelf {
        let mut shelf = Shelf::new(Journal::new(100, MAX_BYTES, 0));
        for (revision, (namespace, name)) in
            [("a", "x"), ("a-b", "x"), ("a", "y"), ("b", "z"), ("a", "w")]
                .into_iter()
                .enumerate()
        {
            write(&mut shelf, namespace, name, revision as u64 + 1, false);
        }
        shelf
    }

    fn find(
        shelf: &Shelf,
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
        let (found, total) = shelf.find(&scan).unwrap();
        let text = |o: &Arc<Stored>| format!("{}/{}@{}", o.namespace, o.name, o.revision);
        (found.iter().map(text).collect(), total)
    }

    #[test]
    fn ranges_end_where_their_namespace_ends() {
        let shelf = shelf();
        let all = find(&shelf, Range::default(), None, None);
        let names = ["a-b/x@2", "a/w@5", "a/x@1", "a/y@3", "b/z@4"];
        assert_eq!(all, (names.map(str::to_owned).to_vec(), 5));
        let within = |namespace, name, from, take| {
            let range = Range {
                namespace: Some(namespace),
                name,
                from,
            };
            let (found, total) = find(&shelf, range, None, take);
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
    fn the_past_is_what_later_changes_replaced() {
        let mut shelf = shelf();
        write(&mut shelf, "a", "x", 6, false);
        write(&mut shelf, "a", "x", 7, false);
        write(&mut shelf, "a", "y", 8, true);
        write(&mut shelf, "a", "a", 9, false);
        write(&mut shelf, "a", "zz", 10, false);
        write(&mut shelf, "b", "z", 11, true);
        let all = |at| find(&shelf, Range::default(), Some(at), None).0.join(" ");
        assert_eq!(all(5), "a-b/x@2 a/w@5 a/x@1 a/y@3 b/z@4");
        assert_eq!(all(6), "a-b/x@2 a/w@5 a/x@6 a/y@3 b/z@4");
        assert_eq!(all(8), "a-b/x@2 a/w@5 a/x@7 b/z@4");
        assert_eq!(all(11), "a-b/x@2 a/a@9 a/w@5 a/x@7 a/zz@10");
        assert_eq!(all(0), "");
        let count = |namespace| shelf.counts.get(namespace).copied();
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
            find(&shelf, range, Some(5), Some(1)),
            (vec!["a/x@1".to_owned()], 2)
        );
        let one = Range {
            namespace: Some("a"),
            name: Some("y"),
            from: "",
        };
        assert_eq!(find(&shelf, one, Some(7), None).0, ["a/y@3"]);
        assert_eq!(find(&shelf, one, None, None).0, Vec::<String>::new());
    }
}
