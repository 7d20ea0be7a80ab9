//! Resources, as the store distinguishes them.

use std::fmt;
use std::sync::Arc;

/// A resource; all its API versions share the stored objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Resource {
    pub(crate) group: Arc<str>,
    pub(crate) plural: Arc<str>,
}

impl Resource {
    /// `group` is empty for the core group.
    pub(crate) fn new(group: &str, plural: &str) -> Self {
        Self {
            group: Arc::from(group),
            plural: Arc::from(plural),
        }
    }

    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        *self.group == *group && *self.plural == *plural
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
