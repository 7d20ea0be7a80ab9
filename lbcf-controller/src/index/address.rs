//! The addresses of backends.

use crate::api::{BackendRecord, ObjectKey, StringMap, names};
use std::hash::{BuildHasher, RandomState};

/// One address of one load balancer, which identifies a backend in a cloud.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AddressKey {
    driver: ObjectKey,
    lb_info: StringMap,
    addr: String,
}

impl AddressKey {
    /// The address of a backend that a driver lists.
    pub(crate) const fn new(driver: ObjectKey, lb_info: StringMap, addr: String) -> Self {
        Self {
            driver,
            lb_info,
            addr,
        }
    }

    /// None while the record has no address.
    pub(crate) fn of(record: &BackendRecord) -> Option<Self> {
        let address = Address::of(record)?;
        Some(Self {
            driver: ObjectKey::new(address.driver_namespace, address.driver),
            lb_info: address.lb_info.clone(),
            addr: address.addr.to_owned(),
        })
    }

    pub(crate) fn addr(&self) -> &str {
        &self.addr
    }

    pub(super) fn as_ref(&self) -> Address<'_> {
        Address {
            driver_namespace: &self.driver.namespace,
            driver: &self.driver.name,
            lb_info: &self.lb_info,
            addr: &self.addr,
        }
    }
}

/// An [`AddressKey`] within a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Address<'a> {
    driver_namespace: &'a str,
    driver: &'a str,
    lb_info: &'a StringMap,
    addr: &'a str,
}

impl<'a> Address<'a> {
    /// None while the record has no address.
    pub(super) fn of(record: &'a BackendRecord) -> Option<Self> {
        let addr = record.status.as_ref()?.backend_addr.as_str();
        let (namespace, spec) = (record.metadata.namespace.as_deref(), &record.spec);
        let namespace = namespace.unwrap_or_default();
        (!addr.is_empty()).then(|| Self {
            driver_namespace: names::namespace_of(namespace, &spec.lb_driver),
            driver: &spec.lb_driver,
            lb_info: &spec.lb_info,
            addr,
        })
    }
}

/// Hashes addresses, with a seed of the process.
#[derive(Debug, Clone, Default)]
pub(super) struct AddressHasher(RandomState);

impl AddressHasher {
    pub(super) fn hash(&self, address: Address<'_>) -> u64 {
        self.0.hash_one(address)
    }
}
