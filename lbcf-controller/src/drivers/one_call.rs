//! Calls that are made one at a time: those about the load balancers for which a driver asks for that, and those about
//! each backend address.
//!
//! Two records can have the same address. If both were registered or deregistered at the same
//! time, the result would be that of the call that reaches the cloud last.

use crate::api::names::{ANNOTATION_ONE_CALL, ANNOTATION_ONE_CALL_FIELD};
use crate::api::{ObjectKey, StringMap};
use crate::index::AddressKey;
use crate::process::lock::Mutex;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Equal for calls about load balancers that must not overlap; none if the driver's annotations ask for
/// nothing.
///
/// `load_balancer` is its lbInfo, or before its creation its lbSpec. With the annotation for a field, load
/// balancers without the field have one slot together: which of them are the same is unknown.
pub(crate) fn shared_fields(
    annotations: &BTreeMap<String, String>,
    load_balancer: &StringMap,
) -> Option<StringMap> {
    let field = annotations.get(ANNOTATION_ONE_CALL_FIELD);
    if let Some(field) = field.filter(|field| !field.is_empty()) {
        let value = load_balancer.get_key_value(field);
        let shared = value.map(|(field, value)| (field.clone(), value.clone()));
        return Some(shared.into_iter().collect::<BTreeMap<_, _>>().into());
    }
    let is_on = annotations.get(ANNOTATION_ONE_CALL);
    let is_on = is_on.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    is_on.then(|| load_balancer.clone())
}

/// The locked addresses, with the records that tried to lock them since.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressLocks(Arc<Mutex<HashMap<AddressKey, BTreeSet<ObjectKey>>>>);

impl AddressLocks {
    /// Locks an address for a record, or for work that need not wait for it. If it is locked, the record is
    /// returned when it is [released](AddressLock::release).
    pub(crate) fn try_lock(
        &self,
        address: AddressKey,
        record: Option<&ObjectKey>,
    ) -> Option<AddressLock> {
        match self.0.lock().entry(address.clone()) {
            Entry::Occupied(mut waiting) => {
                waiting.get_mut().extend(record.cloned());
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
mod tests;
