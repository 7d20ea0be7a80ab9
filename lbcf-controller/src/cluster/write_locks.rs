//! One writer of an object at a time, for what several requests write: parts of a Bind's status, or
//! the finalizer of a driver that all of them need.

use crate::api::ObjectKey;
use crate::process::lock::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct WriteLocks(Mutex<HashMap<ObjectKey, Arc<tokio::sync::Mutex<()>>>>);

impl WriteLocks {
    pub(crate) fn of(&self, object: &ObjectKey) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.0.lock().entry(object.clone()).or_default())
    }

    pub(crate) fn remove(&self, object: &ObjectKey) {
        self.0.lock().remove(object);
    }
}
