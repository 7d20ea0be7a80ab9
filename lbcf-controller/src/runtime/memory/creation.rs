//! Creations that have begun, and of which no driver knows yet.

use super::Memory;
use crate::index::RequestKey;

impl Memory {
    /// Notes whether no driver has got a call since this process stored that creating begins.
    pub(crate) fn note_creation(&self, key: &RequestKey, is_unreceived: bool) {
        self.with(key, |notes| notes.is_creation_unreceived = is_unreceived);
    }

    pub(crate) fn is_creation_unreceived(&self, key: &RequestKey) -> bool {
        self.with(key, |notes| notes.is_creation_unreceived)
    }
}
