//! One version of one object, shared by everybody who reads it.

use bytes::Bytes;

use super::draft::Draft;
use crate::object::{self, Object};

/// An object as it was at one revision; it never changes.
///
/// `apiVersion` and `kind` are not kept: the same object can be read in several versions, and list
/// items of built-in kinds come without them. They are written in front of the serialised rest, so
/// that one serialisation serves the disk, every reader and every watcher.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) revision: u64,
    pub(crate) object: Object,
    body: Bytes,
}

impl Stored {
    /// Gives the object its revision.
    pub(crate) fn new(object: Object, revision: u64) -> Self {
        Draft::new(object).at(revision)
    }

    /// An object that has its revision already, and the same as JSON.
    pub(super) fn of_parts(object: Object, body: Bytes, revision: u64) -> Self {
        Self {
            namespace: object::namespace(&object).to_owned(),
            name: object::name(&object).to_owned(),
            revision,
            object,
            body,
        }
    }

    /// The object's uid.
    pub(crate) fn uid(&self) -> &str {
        object::uid(&self.object)
    }

    /// The serialised object without `apiVersion` and `kind`.
    pub(crate) fn body(&self) -> Bytes {
        self.body.clone()
    }

    /// How long the serialised object is.
    pub(crate) fn size(&self) -> usize {
        self.body.len()
    }
}
