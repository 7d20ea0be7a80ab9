//! What a driver with a defect remembers between calls. The right driver remembers nothing, and
//! many defects consist in nothing else.

use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much is remembered; then everything is forgotten, so that no caller can fill the memory.
const LIMIT: usize = 50_000;

/// What is remembered, in scopes that know nothing of each other; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Keys may be as long as requests: their hashes are kept instead.
    hasher: RandomState,
    known: Mutex<HashMap<u64, Value>>,
}

impl Memory {
    pub(super) fn put(&self, scope: &str, key: &str, value: impl Into<Value>) {
        let value = value.into();
        self.change(scope, key, |_| value);
    }

    pub(super) fn get(&self, scope: &str, key: &str) -> Option<Value> {
        self.lock().get(&self.hash(scope, key)).cloned()
    }

    pub(super) fn knows(&self, scope: &str, key: &str) -> bool {
        self.lock().contains_key(&self.hash(scope, key))
    }

    pub(super) fn forget(&self, scope: &str, key: &str) {
        self.lock().remove(&self.hash(scope, key));
    }

    /// How often this was called for the key before.
    pub(super) fn count(&self, scope: &str, key: &str) -> u64 {
        let mut before = 0;
        self.change(scope, key, |number| {
            before = as_number(number);
            Value::from(before.saturating_add(1))
        });
        before
    }

    pub(super) fn number(&self, scope: &str, key: &str) -> u64 {
        as_number(self.get(scope, key).as_ref())
    }

    /// How many calls with this key are at work, with one more until the guard goes.
    pub(super) fn enter(&self, scope: &'static str, key: &str) -> AtWork {
        AtWork {
            others: self.count(scope, key),
            memory: self.clone(),
            scope,
            key: key.to_owned(),
        }
    }

    /// One step: nobody else comes between what was there and what is put there.
    fn change(&self, scope: &str, key: &str, change: impl FnOnce(Option<&Value>) -> Value) {
        let key = self.hash(scope, key);
        let mut known = self.lock();
        let value = change(known.get(&key));
        if known.len() >= LIMIT {
            known.clear();
        }
        known.insert(key, value);
    }

    fn hash(&self, scope: &str, key: &str) -> u64 {
        self.shared.hasher.hash_one((scope, key))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Value>> {
        let known = self.shared.known.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }
}

fn as_number(value: Option<&Value>) -> u64 {
    value.and_then(Value::as_u64).unwrap_or_default()
}

/// A call at work.
#[derive(Debug)]
pub(super) struct AtWork {
    /// How many others there were when it came.
    pub(super) others: u64,
    memory: Memory,
    scope: &'static str,
    key: String,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.memory.change(self.scope, &self.key, |number| {
            Value::from(as_number(number).saturating_sub(1))
        });
    }
}
