//! One call at a time for each backend address.
//!
//! Two records can have the same address (u20). If both were registered or deregistered at the same
//! time, the result would be that of the call that reaches the cloud last.

use crate::index::AddressKey;
use crate::lock::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(crate) struct AddressLocks(Arc<Mutex<HashSet<AddressKey>>>);

impl AddressLocks {
    pub(crate) fn try_lock(&self, address: AddressKey) -> Option<AddressLock> {
        let mut locked = self.0.lock();
        locked.insert(address.clone()).then(|| AddressLock {
            locks: self.clone(),
            address,
        })
    }
}

/// Unlocks the address when it is dropped.
#[derive(Debug)]
pub(crate) struct AddressLock {
    locks: AddressLocks,
    address: AddressKey,
}

impl Drop for AddressLock {
    fn drop(&mut self) {
        self.locks.0.lock().remove(&self.address);
    }
}
