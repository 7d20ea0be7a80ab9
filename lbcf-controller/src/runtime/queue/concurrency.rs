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

/// The slots that a request takes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConcurrencyLimits {
    /// Concurrency keys, each with its number of slots.
    pub(crate) slots: Vec<(ConcurrencyKey, usize)>,
    /// Of a request about a load balancer whose driver takes several backends at once: a hash of that load balancer.
    pub(crate) batch: Option<u64>,
}

impl From<Vec<(ConcurrencyKey, usize)>> for ConcurrencyLimits {
    fn from(slots: Vec<(ConcurrencyKey, usize)>) -> Self {
        Self { slots, batch: None }
    }
}

/// Requests about a load balancer that start one after the other while others wait, if its driver takes several at once:
/// enough for some batches. Then others have their turn.
const RUN: usize = 60;

/// The slots that a request takes besides those of its driver, which may be a tenant's.
pub(crate) fn shares(driver: &ObjectKey, options: &Options) -> Vec<(ConcurrencyKey, usize)> {
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
        return ConcurrencyLimits::default();
    }
    let namespace = Some(Arc::clone(&driver.namespace));
    let slots = vec![
        (ConcurrencyKey::Probes(namespace), PROBES),
        (ConcurrencyKey::Probes(None), options.workers / 4),
    ];
    slots.into()
}

#[derive(Debug, Default)]
pub(super) struct Concurrency(HashMap<ConcurrencyKey, Slots>);

#[derive(Debug, Default)]
struct Slots {
    used: usize,
    waiting_calls: usize,
    high: Waiting,
    normal: Waiting,
}

/// Requests in their order, but that those with one batch go together.
#[derive(Debug, Default)]
struct Waiting {
    order: VecDeque<Turn>,
    batches: HashMap<u64, VecDeque<RequestKey>>,
    /// Requests of the batch in front that have started.
    gone: usize,
}

#[derive(Debug)]
enum Turn {
    Request(RequestKey),
    Batch(u64),
}

impl Waiting {
    fn push_back(&mut self, request: RequestKey, batch: Option<u64>) {
        let Some(batch) = batch else {
            self.order.push_back(Turn::Request(request));
            return;
        };
        let requests = self.batches.entry(batch).or_insert_with(|| {
            self.order.push_back(Turn::Batch(batch));
            VecDeque::new()
        });
        requests.push_back(request);
    }

    fn pop_front(&mut self) -> Option<RequestKey> {
        let batch = match self.order.pop_front()? {
            Turn::Request(request) => return Some(request),
            Turn::Batch(batch) => batch,
        };
        let requests = self.batches.get_mut(&batch)?;
        let request = requests.pop_front();
        self.gone += 1;
        if requests.is_empty() {
            self.batches.remove(&batch);
            self.gone = 0;
        } else if self.gone < RUN {
            self.order.push_front(Turn::Batch(batch));
        } else {
            self.order.push_back(Turn::Batch(batch));
            self.gone = 0;
        }
        request
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Concurrency {
    /// Takes a slot of each key for a request, or none: returns the first key that has none.
    pub(super) fn acquire(&mut self, limits: &ConcurrencyLimits) -> Result<(), ConcurrencyKey> {
        let full = limits.slots.iter().find(|(key, limit)| {
            let slots = self.0.get(key);
            slots.is_some_and(|slots| slots.used + slots.waiting_calls >= (*limit).max(1))
        });
        if let Some((key, _)) = full {
            return Err(key.clone());
        }
        for (key, _) in &limits.slots {
            self.0.entry(key.clone()).or_default().used += 1;
        }
        Ok(())
    }

    /// Lets a request wait for a slot. A verdict is a decision about many backends.
    pub(super) fn wait(
        &mut self,
        key: ConcurrencyKey,
        request: RequestKey,
        priority: Priority,
        batch: Option<u64>,
    ) {
        let slots = self.0.entry(key).or_default();
        let is_verdict = matches!(request, RequestKey::DeregisterVerdict(_));
        match priority == Priority::High || is_verdict {
            true => slots.high.push_back(request, batch),
            false => slots.normal.push_back(request, batch),
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
        let is_waited_for = !slots.high.is_empty() || !slots.normal.is_empty();
        if slots.used + slots.waiting_calls == 0 && !is_waited_for {
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
