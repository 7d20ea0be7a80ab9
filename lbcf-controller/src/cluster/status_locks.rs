//! One writer of an object's status at a time, for statuses that several requests write parts of.

use crate::key::ObjectKey;
use crate::lock::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct StatusLocks(Mutex<HashMap<ObjectKey, Arc<tokio::sync::Mutex<()>>>>);

impl StatusLocks {
    pub(crate) fn of(&self, object: &ObjectKey) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.0.lock().entry(object.clone()).or_default())
    }

    pub(crate) fn remove(&self, object: &ObjectKey) {
        self.0.lock().remove(object);
    }
}
