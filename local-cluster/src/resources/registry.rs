//! The registry of served kinds, and a cache of documents about them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use bytes::Bytes;
use ring::digest::{SHA512, digest};

use super::{Kind, builtin};

/// The built-in kinds, and those of established definitions.
#[derive(Debug)]
pub(crate) struct Registry {
    builtin: Vec<Arc<Kind>>,
    /// Reviews and bindings, which are created and never stored.
    reviews: Vec<Arc<Kind>>,
    /// Discovery and OpenAPI documents about the current kinds.
    pub(crate) documents: Documents,
    /// By the name of the definition, in the order of their creation.
    custom: RwLock<Vec<(String, Vec<Arc<Kind>>)>>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            builtin: builtin::kinds().into_iter().map(Arc::new).collect(),
            reviews: builtin::reviews().into_iter().map(Arc::new).collect(),
            documents: Documents::default(),
            custom: RwLock::default(),
        }
    }

    /// Serves the kinds of a definition, in place of its former ones.
    pub(crate) fn set_custom(&self, definition: &str, kinds: Vec<Kind>) {
        let kinds: Vec<Arc<Kind>> = kinds.into_iter().map(Arc::new).collect();
        let mut custom = self.custom.write().unwrap_or_else(PoisonError::into_inner);
        match custom.iter_mut().find(|(name, _)| name == definition) {
            Some((_, served)) => *served = kinds,
            None => custom.push((definition.to_owned(), kinds)),
        }
        drop(custom);
        self.documents.clear();
    }

    pub(crate) fn remove_custom(&self, definition: &str) {
        self.custom
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(name, _)| name != definition);
        self.documents.clear();
    }

    /// Reviews and bindings; [`Self::all`] does not contain them.
    pub(crate) fn reviews(&self) -> &[Arc<Kind>] {
        &self.reviews
    }

    pub(crate) fn all(&self) -> Vec<Arc<Kind>> {
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        self.builtin
            .iter()
            .chain(custom.iter().flat_map(|(_, kinds)| kinds))
            .cloned()
            .collect()
    }

    /// The kind at `/apis/GROUP/VERSION/PLURAL`.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        let matches =
            |k: &&Arc<Kind>| k.plural == plural && k.group == group && k.version == version;
        if let Some(kind) = self.builtin.iter().find(matches) {
            return Some(Arc::clone(kind));
        }
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        custom
            .iter()
            .flat_map(|(_, kinds)| kinds)
            .find(matches)
            .cloned()
    }

    /// The other versions of the same resource.
    pub(crate) fn equivalents(&self, kind: &Kind) -> Vec<Arc<Kind>> {
        let other = |k: &Arc<Kind>| {
            k.storage == kind.storage && (k.group != kind.group || k.version != kind.version)
        };
        self.all().into_iter().filter(other).collect()
    }

    pub(crate) fn builtin(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.builtin.iter().find(|k| k.is(group, plural)).cloned()
    }

    /// A kind of the stored resource, in any version.
    pub(crate) fn of_storage(&self, storage: &crate::store::Resource) -> Option<Arc<Kind>> {
        self.all().into_iter().find(|k| k.storage == *storage)
    }
}

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
