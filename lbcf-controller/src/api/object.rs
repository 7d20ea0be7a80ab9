//! What is asked of any object's metadata.

use kube::Resource;

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
