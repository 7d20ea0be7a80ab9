//! Locks: a mutex that ignores poisoning, as no code path leaves its data half changed when it panics, and one writer of an
//! object at a time.

use crate::api::ObjectKey;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
