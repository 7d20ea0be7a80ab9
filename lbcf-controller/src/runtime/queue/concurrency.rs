//! Concurrency keys: how many calls are in flight at a time for one driver, or one load balancer.
//!
//! This is the only limit of calls to drivers. The queue starts a request when all its keys have a
//! free slot: until then the request waits here and blocks no worker, so that a slow driver delays
//! no other, and requests that deregister something still start first. Calls that do not belong
//! to a request with a slot (admission, audits) wait for a slot of the same key with
//! [`Queue::permit`](super::Queue::permit) and get it before any waiting request, because a user depends on them.
//!
//! A request that runs holds a worker, of which there are fewer than calls that tenants' drivers can make last long. So the
//! drivers of a namespace share the slots of one driver, and those of all tenants half of the workers (d109).

use crate::api::names::SYSTEM_NAMESPACE;
use crate::api::{ObjectKey, StringMap};
use crate::index::{Priority, RequestKey};
use crate::process::options::Options;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ConcurrencyKey {
    /// All calls to a driver.
    Driver(ObjectKey),
    /// All calls about the load balancers of a driver that share these fields, if it asks for one call at a
    /// time.
    LoadBalancers(ObjectKey, StringMap),
    /// All calls to the drivers of a tenant's namespace.
    Namespace(Arc<str>),
    /// All calls to drivers of tenants.
    Tenants,
    /// The probes of the drivers of a tenant's namespace, or of all tenants, which wait for no other calls.
    Probes(Option<Arc<str>>),
}

/// Drivers of a tenant's namespace that are probed at a time.
const PROBES: usize = 16;

/// Concurrency keys, each with its number of slots.
pub(crate) type ConcurrencyLimits = Vec<(ConcurrencyKey, usize)>;

/// The slots that a request takes besides those of its driver, which may be a tenant's.
pub(crate) fn shares(driver: &ObjectKey, options: &Options) -> ConcurrencyLimits {
    if *driver.namespace == *SYSTEM_NAMESPACE {
        return Vec::new();
    }
    let namespace = ConcurrencyKey::Namespace(Arc::clone(&driver.namespace));
    let tenants = options.workers / 2;
    vec![
        (namespace, options.calls_per_driver.min(tenants / 2)),
        (ConcurrencyKey::Tenants, tenants),
    ]
}

/// The slots that the probe of a driver takes.
pub(crate) fn probe_limits(driver: &ObjectKey, options: &Options) -> ConcurrencyLimits {
    if *driver.namespace == *SYSTEM_NAMESPACE {
        return Vec::new();
    }
    let namespace = Some(Arc::clone(&driver.namespace));
    vec![
        (ConcurrencyKey::Probes(namespace), PROBES),
        (ConcurrencyKey::Probes(None), options.workers / 4),
    ]
}

#[derive(Debug, Default)]
pub(super) struct Concurrency(HashMap<ConcurrencyKey, Slots>);

#[derive(Debug, Default)]
struct Slots {
    used: usize,
    waiting_calls: usize,
    high: VecDeque<RequestKey>,
    normal: VecDeque<RequestKey>,
}

impl Concurrency {
    /// Takes a slot of each key for a request, or none: returns the first key that has none.
    pub(super) fn acquire(&mut self, limits: &ConcurrencyLimits) -> Result<(), ConcurrencyKey> {
        let full = limits.iter().find(|(key, limit)| {
            let slots = self.0.get(key);
            slots.is_some_and(|slots| slots.used + slots.waiting_calls >= (*limit).max(1))
        });
        if let Some((key, _)) = full {
            return Err(key.clone());
        }
        for (key, _) in limits {
            self.0.entry(key.clone()).or_default().used += 1;
        }
        Ok(())
    }

    /// Lets a request wait for a slot. A verdict is a decision about many backends.
    pub(super) fn wait(&mut self, key: ConcurrencyKey, request: RequestKey, priority: Priority) {
        let slots = self.0.entry(key).or_default();
        let is_verdict = matches!(request, RequestKey::DeregisterVerdict(_));
        match priority == Priority::High || is_verdict {
            true => slots.high.push_back(request),
            false => slots.normal.push_back(request),
        }
    }

    pub(super) fn release(&mut self, key: &ConcurrencyKey) {
        if let Some(slots) = self.0.get_mut(key) {
            slots.used = slots.used.saturating_sub(1);
        }
    }

    /// The next request that waits for a slot.
    pub(super) fn next(&mut self, key: &ConcurrencyKey) -> Option<RequestKey> {
        let slots = self.0.get_mut(key)?;
        let high = slots.high.pop_front();
        let next = high.or_else(|| slots.normal.pop_front());
        if slots.used + slots.waiting_calls + slots.high.len() + slots.normal.len() == 0 {
            self.0.remove(key);
        }
        next
    }

    /// Reserves the next free slot for a call outside of requests.
    pub(super) fn reserve_for_call(&mut self, key: &ConcurrencyKey) {
        self.0.entry(key.clone()).or_default().waiting_calls += 1;
    }

    /// Takes a slot for the call if one is free, which ends its reservation.
    pub(super) fn acquire_for_call(&mut self, key: &ConcurrencyKey, limit: usize) -> bool {
        let slots = self.0.entry(key.clone()).or_default();
        let is_free = slots.used < limit.max(1);
        if is_free {
            slots.used += 1;
            slots.waiting_calls -= 1;
        }
        is_free
    }

    pub(super) fn cancel_reservation(&mut self, key: &ConcurrencyKey) {
        if let Some(slots) = self.0.get_mut(key) {
            slots.waiting_calls = slots.waiting_calls.saturating_sub(1);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
