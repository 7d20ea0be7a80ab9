//! A cache of documents about the served kinds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use ring::digest::{SHA512, digest};

/// A document with its entity tag.
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

/// The documents of one state of the registry, by name.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<CachedDocuments>);

#[derive(Debug, Default)]
struct CachedDocuments {
    /// Counts changes of the registry.
    generation: u64,
    documents: HashMap<String, Arc<Document>>,
}

impl Documents {
    /// The document of this name, built on first use. Documents are never evicted, so names must be
    /// those of documents that exist.
    pub(crate) fn get(&self, name: &str, build: impl FnOnce() -> Vec<u8>) -> Arc<Document> {
        let generation = {
            let cache = self.lock();
            if let Some(document) = cache.documents.get(name) {
                return Arc::clone(document);
            }
            cache.generation
        };
        let document = Arc::new(Document::new(build()));
        let mut cache = self.lock();
        // A document built during a change may describe the previous state.
        if cache.generation == generation {
            cache
                .documents
                .insert(name.to_owned(), Arc::clone(&document));
        }
        document
    }

    pub(super) fn clear(&self) {
        let mut cache = self.lock();
        cache.generation += 1;
        cache.documents.clear();
    }

    fn lock(&self) -> MutexGuard<'_, CachedDocuments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_built_once_for_each_generation() {
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
    fn a_document_built_during_a_change_is_not_cached() {
        let documents = Documents::default();
        let built = documents.get("a", || {
            documents.clear();
            b"old".to_vec()
        });
        assert_eq!(&built.body[..], b"old");
        assert_eq!(&documents.get("a", || b"new".to_vec()).body[..], b"new");
    }
}
