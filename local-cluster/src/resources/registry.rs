//! Which kinds are served at the moment.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Documents, Kind, builtin};

/// The served kinds: the built-in ones, and those of established definitions.
#[derive(Debug)]
pub(crate) struct Registry {
    builtin: Vec<Arc<Kind>>,
    /// The kinds that are answered and not kept.
    reviews: Vec<Arc<Kind>>,
    /// What was written about the kinds that are served now.
    pub(crate) documents: Documents,
    /// By definition, in order of arrival.
    custom: RwLock<Vec<(String, Vec<Arc<Kind>>)>>,
}

impl Registry {
    /// The built-in kinds.
    pub(crate) fn new() -> Self {
        Self {
            builtin: builtin::kinds().into_iter().map(Arc::new).collect(),
            reviews: builtin::reviews().into_iter().map(Arc::new).collect(),
            documents: Documents::default(),
            custom: RwLock::default(),
        }
    }

    /// Serves the kinds of a definition, in place of what it said before.
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

    /// No longer serves the kinds of a definition.
    pub(crate) fn remove_custom(&self, definition: &str) {
        self.custom
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(name, _)| name != definition);
        self.documents.clear();
    }

    /// The kinds that are answered and not kept; they are no part of the others.
    pub(crate) fn reviews(&self) -> &[Arc<Kind>] {
        &self.reviews
    }

    /// All served kinds.
    pub(crate) fn all(&self) -> Vec<Arc<Kind>> {
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        self.builtin
            .iter()
            .chain(custom.iter().flat_map(|(_, kinds)| kinds))
            .cloned()
            .collect()
    }

    /// The kind behind `/apis/GROUP/VERSION/PLURAL`.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        let wanted =
            |k: &&Arc<Kind>| k.plural == plural && k.group == group && k.version == version;
        if let Some(kind) = self.builtin.iter().find(wanted) {
            return Some(Arc::clone(kind));
        }
        let custom = self.custom.read().unwrap_or_else(PoisonError::into_inner);
        custom
            .iter()
            .flat_map(|(_, kinds)| kinds)
            .find(wanted)
            .cloned()
    }

    /// The kinds that show the same objects as this one: its other versions.
    pub(crate) fn equivalents(&self, kind: &Kind) -> Vec<Arc<Kind>> {
        let other = |k: &Arc<Kind>| {
            k.storage == kind.storage && (k.group != kind.group || k.version != kind.version)
        };
        self.all().into_iter().filter(other).collect()
    }

    /// The built-in kind `plural` of `group`, for the agents' own use.
    pub(crate) fn builtin(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.builtin.iter().find(|k| k.is(group, plural)).cloned()
    }

    /// Any kind that keeps its objects there.
    pub(crate) fn of_storage(&self, storage: &crate::store::Resource) -> Option<Arc<Kind>> {
        self.all().into_iter().find(|k| k.storage == *storage)
    }
}
