//! The place of a resource in the store.

use std::fmt;
use std::sync::Arc;

/// Where objects of a kind are kept: all versions of a resource share one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Resource {
    pub(crate) group: Arc<str>,
    pub(crate) plural: Arc<str>,
}

impl Resource {
    /// The resource `plural` of `group`; the core group is empty.
    pub(crate) fn new(group: &str, plural: &str) -> Self {
        Self {
            group: Arc::from(group),
            plural: Arc::from(plural),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.plural)
        } else {
            write!(f, "{}/{}", self.group, self.plural)
        }
    }
}
