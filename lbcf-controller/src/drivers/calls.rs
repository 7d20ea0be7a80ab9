//! How often each webhook was called.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts calls by webhook. Clones share the counts, so one can outlive a controller.
#[derive(Debug, Clone, Default)]
pub struct CallCounts(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl CallCounts {
    pub(super) fn count(&self, webhook: &'static str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(webhook).or_default() += 1;
    }

    /// The counts as they are now.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<&'static str, u64> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
