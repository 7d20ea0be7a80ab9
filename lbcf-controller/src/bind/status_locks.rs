//! One writer of a Bind's status at a time.

use crate::key::ObjectKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One writer at a time for each Bind.
#[derive(Debug, Default)]
pub(crate) struct StatusLocks(Mutex<HashMap<ObjectKey, Arc<tokio::sync::Mutex<()>>>>);

impl StatusLocks {
    pub(super) fn of(&self, bind: &ObjectKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(locks.entry(bind.clone()).or_default())
    }

    /// Forgets a Bind that is gone.
    pub(crate) fn forget(&self, bind: &ObjectKey) {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locks.remove(bind);
    }
}
