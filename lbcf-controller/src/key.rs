//! What names an object, and what names a piece of work.

use std::fmt;

/// An object's namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// The key of `namespace/name`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The key of a namespaced object as the API server gave it.
    pub fn of<K: kube::Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self::new(
            meta.namespace.clone().unwrap_or_default(),
            meta.name.clone().unwrap_or_default(),
        )
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A piece of work: one object that somebody has to look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum WorkKey {
    /// A LoadBalancerDriver.
    Driver(ObjectKey),
    /// A LoadBalancer.
    LoadBalancer(ObjectKey),
    /// A BackendGroup.
    Group(ObjectKey),
    /// A BackendRecord.
    Record(ObjectKey),
}

impl WorkKey {
    /// The kind, as metrics and logs name it (b144).
    #[must_use]
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Driver(_) => "LoadBalancerDriver",
            Self::LoadBalancer(_) => "LoadBalancer",
            Self::Group(_) => "BackendGroup",
            Self::Record(_) => "BackendRecord",
        }
    }

    /// The object.
    #[must_use]
    pub(crate) const fn object(&self) -> &ObjectKey {
        match self {
            Self::Driver(key) | Self::LoadBalancer(key) | Self::Group(key) | Self::Record(key) => {
                key
            }
        }
    }
}

impl fmt::Display for WorkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.object())
    }
}
