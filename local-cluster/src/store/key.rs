//! Resources, and the keys of objects within them.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A resource; all its API versions share the stored objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// `namespace/name`, or the name of a cluster-scoped object.
///
/// Lists are in the order of these strings, as in etcd, which is not that of namespaces and then names:
/// `a-b/x` comes before `a/x`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(Box<str>);

impl Key {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self(Box::from(name));
        }
        let mut key = String::with_capacity(namespace.len() + 1 + name.len());
        key.push_str(namespace);
        key.push('/');
        key.push_str(name);
        Self(key.into_boxed_str())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}
