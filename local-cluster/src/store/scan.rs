//! What a list asks of the store.

use std::ops::Bound;
use std::sync::Arc;

use super::{Resource, Stored};

/// A part of a resource's objects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range<'a> {
    /// One namespace, or all.
    pub(crate) namespace: Option<&'a str>,
    /// One object of the namespace, or of a resource outside of namespaces.
    pub(crate) name: Option<&'a str>,
    /// The key where to begin, within the namespace if there is one; empty for the beginning.
    pub(crate) from: &'a str,
}

/// A look at a resource's objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) range: Range<'a>,
    /// As of which revision; as of now when there is none.
    pub(crate) at: Option<u64>,
    /// How many objects are wanted; all when there is none.
    pub(crate) take: Option<usize>,
    /// Whether those that are not wanted are counted.
    pub(crate) counts: bool,
}

/// What a look found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) objects: Vec<Arc<Stored>>,
    /// When this was so.
    pub(crate) revision: u64,
    /// How many there are from the beginning of the range on, wanted or not; of those that are not
    /// wanted, and not counted, one at most.
    pub(crate) total: usize,
}

/// The keys of a range, as bounds of the sorted map.
#[derive(Debug)]
pub(super) struct Keys {
    first: String,
    /// The first key behind the range.
    end: Option<String>,
}

impl Keys {
    pub(super) fn of(range: &Range<'_>) -> Self {
        let (prefix, end) = match range.namespace {
            None => (String::new(), None),
            // '0' is what follows '/'.
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
            // A map refuses a range that ends before it begins.
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
