//! Keys of objects, and questions about any object's metadata.

use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::NamespaceResourceScope;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::fmt::Debug;
use std::sync::Arc;

pub(crate) trait ObjectExt: Resource {
    fn is_deleting(&self) -> bool {
        self.meta().deletion_timestamp.is_some()
    }

    fn has_finalizer(&self, finalizer: &str) -> bool {
        let mut finalizers = self.meta().finalizers.iter().flatten();
        finalizers.any(|other| other == finalizer)
    }
}

impl<K: Resource> ObjectExt for K {}

/// An object's namespace and name. A copy shares the texts, because each object is in many indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Empty for objects of the cluster.
    pub namespace: Arc<str>,
    /// Unique within the namespace and kind.
    pub name: Arc<str>,
}

impl ObjectKey {
    /// The key of `namespace/name`.
    pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The key of a namespaced object as the API server gave it.
    pub fn of<K: kube::Resource>(object: &K) -> Self {
        key_of(object.meta())
    }
}

/// The key of the object with this metadata.
pub(crate) fn key_of(metadata: &ObjectMeta) -> ObjectKey {
    ObjectKey::new(
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default(),
    )
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A namespaced kind that can be read and written, custom or built in.
pub trait NamespacedKind:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
}

impl<K> NamespacedKind for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}
