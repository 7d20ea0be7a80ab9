//! The registry of served kinds.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Documents, Kind, builtin};

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
