//! One version of an object, shared by all its readers.

use bytes::Bytes;

use super::draft::Draft;
use crate::object::{self, Object};

/// An object at one revision; immutable.
///
/// `apiVersion` and `kind` are not stored, because an object can be read in several API versions and the
/// items of lists of built-in kinds do not have them. They are written in front of the serialised object,
/// so that the disk, all readers and all watchers share one serialisation.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) revision: u64,
    pub(crate) object: Object,
    body: Bytes,
}

impl Stored {
    pub(crate) fn new(object: Object, revision: u64) -> Self {
        Draft::new(object).at(revision)
    }

    /// An object that contains its revision, and its JSON.
    pub(super) fn of_parts(object: Object, body: Bytes, revision: u64) -> Self {
        Self {
            namespace: object::namespace(&object).to_owned(),
            name: object::name(&object).to_owned(),
            revision,
            object,
            body,
        }
    }

    pub(crate) fn uid(&self) -> &str {
        object::uid(&self.object)
    }

    /// The serialised object without `apiVersion` and `kind`.
    pub(crate) fn body(&self) -> Bytes {
        self.body.clone()
    }

    /// The length of the body in bytes.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }
}
