//! One call at a time for each backend address.
//!
//! Two records can have the same address. If both were registered or deregistered at the same
//! time, the result would be that of the call that reaches the cloud last.

use crate::api::ObjectKey;
use crate::index::AddressKey;
use crate::process::lock::Mutex;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The locked addresses, with the records that tried to lock them since.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressLocks(Arc<Mutex<HashMap<AddressKey, BTreeSet<ObjectKey>>>>);

impl AddressLocks {
    /// Locks an address that is not locked, for work that need not wait for it.
    pub(crate) fn lock_if_free(&self, address: AddressKey) -> Option<AddressLock> {
        match self.0.lock().entry(address.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(free) => {
                free.insert(BTreeSet::new());
                Some(AddressLock {
                    locks: self.clone(),
                    address: Some(address),
                })
            }
        }
    }

    /// Locks an address for a record. If it is locked, the record is returned when it is
    /// [released](AddressLock::release).
    pub(crate) fn try_lock(&self, address: AddressKey, record: &ObjectKey) -> Option<AddressLock> {
        match self.0.lock().entry(address.clone()) {
            Entry::Occupied(mut waiting) => {
                waiting.get_mut().insert(record.clone());
                None
            }
            Entry::Vacant(free) => {
                free.insert(BTreeSet::new());
                Some(AddressLock {
                    locks: self.clone(),
                    address: Some(address),
                })
            }
        }
    }
}

/// Unlocks the address when it is released or dropped.
#[derive(Debug)]
pub(crate) struct AddressLock {
    locks: AddressLocks,
    /// None once it is released.
    address: Option<AddressKey>,
}

impl AddressLock {
    /// Unlocks the address; returns the records that tried to lock it meanwhile.
    pub(crate) fn release(mut self) -> BTreeSet<ObjectKey> {
        self.unlock()
    }

    fn unlock(&mut self) -> BTreeSet<ObjectKey> {
        let address = self.address.take();
        let waiting = address.and_then(|address| self.locks.0.lock().remove(&address));
        waiting.unwrap_or_default()
    }
}

impl Drop for AddressLock {
    fn drop(&mut self) {
        self.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{BackendRecord, BackendRecordStatus};

    fn address() -> AddressKey {
        let record = BackendRecord {
            status: Some(BackendRecordStatus {
                backend_addr: "10.0.0.1:80".into(),
                ..BackendRecordStatus::default()
            }),
            ..BackendRecord::default()
        };
        AddressKey::of(&record).unwrap()
    }

    #[test]
    fn u19_the_records_that_waited_for_an_address_are_returned_once() {
        let (locks, record) = (AddressLocks::default(), ObjectKey::new("ns", "a"));
        let other = ObjectKey::new("ns", "b");
        let lock = locks.try_lock(address(), &record).unwrap();
        assert!(locks.try_lock(address(), &other).is_none());
        assert_eq!(lock.release(), [other.clone()].into());
        let lock = locks.try_lock(address(), &other).unwrap();
        assert_eq!(lock.release(), BTreeSet::new());
        // A reconciliation that is aborted leaves no lock.
        drop(locks.try_lock(address(), &record));
        assert!(locks.try_lock(address(), &other).is_some());
    }
}
