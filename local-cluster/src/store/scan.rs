//! List queries.

use std::ops::Bound;
use std::sync::Arc;

use super::{Resource, Stored};

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
