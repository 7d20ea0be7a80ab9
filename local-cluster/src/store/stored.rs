//! One version of an object, shared by all its readers.

use bytes::Bytes;
use serde_json::Value;

use crate::object::{self, Object, child};

const VERSION: &str = "resourceVersion";

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

/// A serialised object that lacks its revision.
///
/// Serialising is the slowest part of a write, and the revision, which is part of the JSON, is known only
/// while the store is locked. So the object is serialised before that with a gap for the revision.
#[derive(Debug)]
pub(super) struct Draft {
    object: Object,
    json: Vec<u8>,
    /// The position of the revision in `json`.
    gap: usize,
}

impl Draft {
    pub(super) fn new(mut object: Object) -> Self {
        object.remove("apiVersion");
        object.remove("kind");
        child(&mut object, "metadata").remove(VERSION);
        #[cfg(test)]
        count::add_one();
        let (json, gap) = serialise(&object).unwrap_or_else(|_| {
            // A map of strings to values always serialises.
            let empty = br#"{"metadata":{"resourceVersion":""}}"#;
            (empty.to_vec(), empty.len() - 3)
        });
        Self { object, json, gap }
    }

    /// The length of the JSON in bytes, without the revision.
    pub(super) const fn size(&self) -> usize {
        self.json.len()
    }

    pub(super) fn at(mut self, revision: u64) -> Stored {
        let version = revision.to_string();
        let (before, after) = self.json.split_at(self.gap);
        let mut body = Vec::with_capacity(self.json.len() + version.len());
        body.extend_from_slice(before);
        body.extend_from_slice(version.as_bytes());
        body.extend_from_slice(after);
        child(&mut self.object, "metadata").insert(VERSION.to_owned(), Value::from(version));
        Stored {
            namespace: object::namespace(&self.object).to_owned(),
            name: object::name(&self.object).to_owned(),
            revision,
            object: self.object,
            body: Bytes::from(body),
        }
    }
}

/// The object as JSON with an empty `metadata.resourceVersion`, and the position of its text.
fn serialise(object: &Object) -> serde_json::Result<(Vec<u8>, usize)> {
    let mut out = Vec::with_capacity(1024);
    let mut gap = 0;
    let mut separator = b'{';
    for (key, value) in object {
        out.push(separator);
        separator = b',';
        serde_json::to_writer(&mut out, key)?;
        out.push(b':');
        match value {
            Value::Object(metadata) if key == "metadata" => {
                gap = write_metadata(&mut out, metadata)?;
            }
            value => serde_json::to_writer(&mut out, value)?,
        }
    }
    out.push(b'}');
    Ok((out, gap))
}

/// Writes the metadata with an empty version, in the order of keys.
fn write_metadata(out: &mut Vec<u8>, metadata: &Object) -> serde_json::Result<usize> {
    let mut gap = None;
    out.push(b'{');
    for (key, value) in metadata {
        if gap.is_none() && key.as_str() > VERSION {
            gap = Some(write_gap(out));
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, key)?;
        out.push(b':');
        serde_json::to_writer(&mut *out, value)?;
        out.push(b',');
    }
    let gap = match gap {
        Some(gap) => {
            // The comma after the last key.
            out.pop();
            gap
        }
        None => write_gap(out),
    };
    out.push(b'}');
    Ok(gap)
}

fn write_gap(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(b"\"resourceVersion\":\"");
    out.push(b'"');
    out.len() - 1
}

/// Counts the objects that this thread has serialised.
#[cfg(test)]
pub(crate) mod count {
    use std::cell::Cell;

    thread_local! {
        static SERIALISED: Cell<usize> = const { Cell::new(0) };
    }

    pub(in crate::store) fn add_one() {
        SERIALISED.set(SERIALISED.get() + 1);
    }

    pub(crate) fn serialised() -> usize {
        SERIALISED.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    #[test]
    fn the_filled_gap_gives_what_serialising_would() {
        for metadata in [
            json!({"name": "n", "namespace": "s", "uid": "u", "resourceVersion": "3"}),
            json!({"name": "n", "labels": {"resourceVersion": "x"}}),
            json!({"uid": "\"quoted\\"}),
            json!({}),
        ] {
            let given = json!({
                "apiVersion": "v1", "kind": "K", "metadata": metadata,
                "a": {"metadata": {"resourceVersion": ""}}, "z": [1, null, "ü"],
            });
            let stored = Draft::new(object(given)).at(42);
            let parsed: Object = serde_json::from_slice(&stored.body()).unwrap();
            assert_eq!(parsed, stored.object);
            assert_eq!(serde_json::to_vec(&stored.object).unwrap(), stored.body());
            assert_eq!(parsed["metadata"]["resourceVersion"], "42");
            assert!(!parsed.contains_key("kind"));
        }
    }

    #[test]
    fn an_object_without_metadata_gets_some() {
        let stored = Draft::new(object(json!({"spec": 1}))).at(7);
        assert_eq!(
            stored.body(),
            br#"{"metadata":{"resourceVersion":"7"},"spec":1}"#.as_slice()
        );
    }
}
