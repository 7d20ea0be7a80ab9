//! What a defective driver remembers between requests. The right driver remembers nothing, and
//! remembering is all that many defects consist in.

use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many values are kept. One more clears all, so that no caller can fill the memory.
const LIMIT: usize = 50_000;

/// Values by scope and key; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Keys may be as long as requests, so their hashes are kept instead.
    hasher: RandomState,
    known: Mutex<HashMap<u64, Value>>,
}

impl Memory {
    pub(crate) fn put(&self, scope: &str, key: &str, value: impl Into<Value>) {
        let value = value.into();
        self.change(scope, key, |_| value);
    }

    pub(crate) fn get(&self, scope: &str, key: &str) -> Option<Value> {
        self.lock().get(&self.hash(scope, key)).cloned()
    }

    pub(crate) fn contains(&self, scope: &str, key: &str) -> bool {
        self.lock().contains_key(&self.hash(scope, key))
    }

    pub(crate) fn remove(&self, scope: &str, key: &str) {
        self.lock().remove(&self.hash(scope, key));
    }

    /// Increments the counter of the key and returns its previous value.
    pub(crate) fn count(&self, scope: &str, key: &str) -> u64 {
        let mut before = 0;
        self.change(scope, key, |number| {
            before = as_number(number);
            Value::from(before.saturating_add(1))
        });
        before
    }

    pub(crate) fn number(&self, scope: &str, key: &str) -> u64 {
        as_number(self.get(scope, key).as_ref())
    }

    /// Counts a request with this key as in flight until the guard is dropped.
    pub(crate) fn enter(&self, scope: &'static str, key: &str) -> InFlight {
        InFlight {
            others: self.count(scope, key),
            memory: self.clone(),
            scope,
            key: key.to_owned(),
        }
    }

    /// Replaces a value atomically.
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

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// How many others were in flight when it arrived.
    pub(crate) others: u64,
    memory: Memory,
    scope: &'static str,
    key: String,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.memory.change(self.scope, &self.key, |number| {
            Value::from(as_number(number).saturating_sub(1))
        });
    }
}
