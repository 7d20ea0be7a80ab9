//! The key of an object within its resource.

use std::borrow::Borrow;

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
