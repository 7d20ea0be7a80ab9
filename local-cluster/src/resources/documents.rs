//! Documents about the served kinds, made once for each state of the registry.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use ring::digest::{SHA512, digest};

/// A document and the tag of its content.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) body: Bytes,
    /// The SHA-512 of the body in upper-case hexadecimal.
    pub(crate) tag: String,
}

impl Document {
    fn new(body: Vec<u8>) -> Self {
        let hash = digest(&SHA512, &body);
        let tag = hash.as_ref().iter().map(|b| format!("{b:02X}")).collect();
        Self {
            body: body.into(),
            tag,
        }
    }
}

/// The documents of one state of the registry, by what they describe.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<Made>);

#[derive(Debug, Default)]
struct Made {
    /// Which state the documents describe.
    state: u64,
    documents: HashMap<String, Arc<Document>>,
}

impl Documents {
    /// The document of this name, made now if it is not there. Only names of documents that exist
    /// may be asked for, as all are kept.
    pub(crate) fn get(&self, name: &str, make: impl FnOnce() -> Vec<u8>) -> Arc<Document> {
        let state = {
            let made = self.lock();
            if let Some(document) = made.documents.get(name) {
                return Arc::clone(document);
            }
            made.state
        };
        let document = Arc::new(Document::new(make()));
        let mut made = self.lock();
        // What was made while the registry changed may describe its last state.
        if made.state == state {
            made.documents
                .insert(name.to_owned(), Arc::clone(&document));
        }
        document
    }

    /// Forgets all documents, as what they describe has changed.
    pub(super) fn clear(&self) {
        let mut made = self.lock();
        made.state += 1;
        made.documents.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_made_once_for_each_state() {
        let documents = Documents::default();
        let first = documents.get("a", || b"one".to_vec());
        let again = documents.get("a", || b"two".to_vec());
        assert_eq!(
            (&first.body[..], &again.body[..]),
            (&b"one"[..], &b"one"[..])
        );
        documents.clear();
        assert_eq!(&documents.get("a", || b"two".to_vec()).body[..], b"two");
        documents.clear();
        assert_eq!(documents.get("a", || b"one".to_vec()).tag, first.tag);
        assert!(first.tag.starts_with("05F70341078ACF6A06D423D21720F964"));
    }

    #[test]
    fn what_was_made_during_a_change_is_not_kept() {
        let documents = Documents::default();
        let made = documents.get("a", || {
            documents.clear();
            b"old".to_vec()
        });
        assert_eq!(&made.body[..], b"old");
        assert_eq!(&documents.get("a", || b"new".to_vec()).body[..], b"new");
    }
}
