//! One version of one object, shared by everybody who reads it.

use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::Value;

use crate::object::{self, Object, child};

/// An object as it was at one revision; it never changes.
///
/// `apiVersion` and `kind` are not kept: the same object can be read in several versions, and list
/// items of built-in kinds come without them. They are written in front of the serialised rest, so
/// that one serialisation serves every reader and every watcher.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) revision: u64,
    pub(crate) object: Object,
    body: OnceLock<Bytes>,
}

impl Stored {
    /// Gives the object its revision.
    pub(crate) fn new(mut object: Object, revision: u64) -> Self {
        object.remove("apiVersion");
        object.remove("kind");
        child(&mut object, "metadata").insert(
            "resourceVersion".to_owned(),
            Value::from(revision.to_string()),
        );
        Self {
            namespace: object::namespace(&object).to_owned(),
            name: object::name(&object).to_owned(),
            revision,
            object,
            body: OnceLock::new(),
        }
    }

    /// The object's uid.
    pub(crate) fn uid(&self) -> &str {
        object::uid(&self.object)
    }

    /// The serialised object without `apiVersion` and `kind`, made once, on first use.
    pub(crate) fn body(&self) -> Bytes {
        self.body
            .get_or_init(|| {
                // A map of strings to values always serialises; an empty object is the honest
                // answer should that ever change.
                serde_json::to_vec(&self.object)
                    .map_or_else(|_| Bytes::from_static(b"{}"), Bytes::from)
            })
            .clone()
    }
}
