//! One call at a time for each backend address.
//!
//! Two records can have the same address (u20). While one of them is being registered or taken
//! away, the other one's turn has not come: whichever call came last at the cloud would win.

use crate::index::AddressKey;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The addresses that a call is under way for.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressLocks(Arc<Mutex<HashSet<AddressKey>>>);

impl AddressLocks {
    /// Takes an address, unless it is taken.
    pub(crate) fn try_take(&self, address: AddressKey) -> Option<AddressLock> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert(address.clone()).then(|| AddressLock {
            locks: self.clone(),
            address,
        })
    }
}

/// An address that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct AddressLock {
    locks: AddressLocks,
    address: AddressKey,
}

impl Drop for AddressLock {
    fn drop(&mut self) {
        let mut taken = self.locks.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&self.address);
    }
}
