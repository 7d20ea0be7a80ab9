use crate::process::lock::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Counts of the calls of each webhook. Clones share them, so that they can outlive a controller.
#[derive(Debug, Clone, Default)]
pub struct CallCounts(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl CallCounts {
    pub(super) fn count(&self, webhook: &'static str) {
        *self.0.lock().entry(webhook).or_default() += 1;
    }

    /// The present counts by webhook.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().clone()
    }
}
