//! Single flight: which call starts an operation, which one joins it, and which one gets the result.
//!
//! This is the bookkeeping alone, without tasks and clock: the callers in `hooks` report each event
//! (a call arrived, a caller left, an operation finished, a result expired).
//!
//! The rules for one [`IdempotencyKey`] (a webhook and a `recordID`):
//!
//! * Only its latest operation is known, and only until one call has received the result. An equal
//!   call joins it while it runs.
//! * When it finishes, the waiting calls get the result and it is removed. Without waiting calls the
//!   result is retained for the next equal call if one was promised it, that is, was answered with
//!   `Running`. A caller that hung up was promised nothing: running the hook again is always
//!   correct, whereas an old result may be wrong by then. `createLoadBalancer` is the exception: its
//!   result is retained in any case, because a driver that does not find the load balancer that it
//!   created would create a second one.
//! * A call with other content replaces it. The earlier operation continues for the calls that wait
//!   for it, and its result is not retained.
//! * A retained result is dropped when another webhook works on the same backend: the result of
//!   registering is obsolete once the backend has been deregistered.

use super::hashed::{Prehashed, keyed_hash};
use super::reject::HookResponse;
use crate::webhook::{CreateLoadBalancer, DeleteLoadBalancer, StringMap, Webhook};
use axum::body::Bytes;
use prometheus::IntGauge;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Calls with equal keys are about the same operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IdempotencyKey {
    hash: u64,
    webhook: &'static str,
    /// Part of the key, so that a dry run neither waits for the real operation nor replaces its
    /// result.
    dry_run: bool,
    record: RecordKey,
}

/// A hash of a backend's load balancer and address. A collision costs a retained result, whose hook
/// then runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BackendId(u64);

impl BackendId {
    pub(super) fn new(load_balancer: &StringMap, addr: &str) -> Self {
        Self(keyed_hash(&(load_balancer, addr)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum RecordKey {
    Id(Arc<str>),
    /// Calls without a `recordID` are only equal if their content is.
    Content(Bytes),
}

impl IdempotencyKey {
    /// `content` identifies a call without a `recordID`.
    pub(super) fn new(
        webhook: &'static str,
        record_id: &str,
        dry_run: bool,
        content: impl FnOnce() -> Bytes,
    ) -> Self {
        let record = if record_id.is_empty() {
            RecordKey::Content(content())
        } else {
            RecordKey::Id(record_id.into())
        };
        Self {
            hash: keyed_hash(&(webhook, dry_run, &record)),
            webhook,
            dry_run,
            record,
        }
    }
}

impl Hash for IdempotencyKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Increases with each operation that is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallId(u64);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lookup<L> {
    /// The operation has to be [started](InFlightCalls::start).
    Miss,
    /// An operation with this key and a request of other bytes. The caller compares the contents
    /// and looks it up again with the [result](ContentMatch).
    Compare(CallId, Bytes),
    /// An equal operation runs, and the call now waits for it.
    Join(CallId, L),
    /// The result of an equal operation.
    Collect(HookResponse),
}

/// A comparison of a request's content, without `retryID`, with that of a known operation. Equal
/// bytes need no comparison; other bytes have to be decoded for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentMatch {
    NotCompared,
    Equal(CallId),
    Different(CallId),
}

/// Tells whether a result now waits to be collected, and so has to [expire](InFlightCalls::expire).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Retained {
    Yes,
    No,
}

/// The operations that run or have an uncollected result. `L` receives the state of one.
#[derive(Debug)]
pub(super) struct InFlightCalls<L> {
    latest: HashMap<IdempotencyKey, InFlightCall<L>, Prehashed>,
    /// Uncollected results, oldest first.
    retained: BTreeMap<CallId, UncollectedResult>,
    retained_by_backend: HashMap<BackendId, BTreeSet<CallId>>,
    retained_bytes: usize,
    /// In bytes. Beyond it the oldest results are dropped.
    retained_limit: usize,
    retained_gauge: IntGauge,
    started: u64,
}

#[derive(Debug)]
struct InFlightCall<L> {
    id: CallId,
    request: Bytes,
    backend: Option<BackendId>,
    state: L,
    /// The number of calls that wait for it.
    waiting: usize,
    /// True to retain the result: a caller was answered with `Running`, or the webhook demands
    /// it.
    promised: bool,
    result: Option<HookResponse>,
}

#[derive(Debug)]
struct UncollectedResult {
    key: IdempotencyKey,
    backend: Option<BackendId>,
    /// Of the request and the response, in bytes.
    size: usize,
}

impl<L: Clone> InFlightCalls<L> {
    /// `retained_limit` bounds the bytes of uncollected results and their requests.
    pub(super) fn new(retained_limit: usize, retained_gauge: IntGauge) -> Self {
        Self {
            latest: HashMap::default(),
            retained: BTreeMap::new(),
            retained_by_backend: HashMap::new(),
            retained_bytes: 0,
            retained_limit,
            retained_gauge,
            started: 0,
        }
    }

    /// A call arrived. One that joins counts as waiting from now on.
    pub(super) fn lookup(
        &mut self,
        key: &IdempotencyKey,
        request: &Bytes,
        content: ContentMatch,
    ) -> Lookup<L> {
        let Some(call) = self.latest.get_mut(key) else {
            return Lookup::Miss;
        };
        if call.request != *request {
            match content {
                ContentMatch::Equal(id) if id == call.id => {}
                ContentMatch::Different(id) if id == call.id => return Lookup::Miss,
                _ => return Lookup::Compare(call.id, call.request.clone()),
            }
        }
        match &call.result {
            None => {
                call.waiting += 1;
                Lookup::Join(call.id, call.state.clone())
            }
            Some(result) if call.waiting == 0 => {
                let result = result.clone();
                self.remove(key);
                Lookup::Collect(result)
            }
            // The result belongs to the calls that waited; this one arrived after it.
            Some(_) => Lookup::Miss,
        }
    }

    /// A call starts an operation and waits for it. Calls that join it receive `state`.
    pub(super) fn start(
        &mut self,
        key: &IdempotencyKey,
        request: &Bytes,
        backend: Option<BackendId>,
        state: L,
    ) -> CallId {
        self.started += 1;
        let id = CallId(self.started);
        let call = InFlightCall {
            id,
            request: request.clone(),
            backend,
            state,
            waiting: 1,
            promised: key.webhook == CreateLoadBalancer::INFO.name,
            result: None,
        };
        if let Some(earlier) = self.latest.insert(key.clone(), call) {
            self.remove_retained(earlier.id);
        }
        self.drop_obsolete(key, backend);
        id
    }

    /// An operation finished; `None` where later calls cannot use the result. The waiting calls
    /// report [`delivered`](Self::delivered).
    pub(super) fn finished(
        &mut self,
        key: &IdempotencyKey,
        id: CallId,
        result: Option<HookResponse>,
    ) -> Retained {
        let Some(call) = self.in_flight(key, id) else {
            return Retained::No;
        };
        let is_usable = result.is_some();
        call.result = result;
        let backend = call.backend;
        // It may have undone what operations of other webhooks did meanwhile.
        self.drop_obsolete(key, backend);
        if !is_usable {
            self.remove(key);
        }
        self.retain_unless_awaited(key, id)
    }

    /// An operation finished at once, and its call has the result.
    pub(super) fn done(&mut self, key: &IdempotencyKey, id: CallId) {
        if let Some(call) = self.in_flight(key, id) {
            let backend = call.backend;
            self.drop_obsolete(key, backend);
            self.remove(key);
        }
    }

    /// A waiting call has the result.
    pub(super) fn delivered(&mut self, key: &IdempotencyKey, id: CallId) {
        if self.in_flight(key, id).is_some() {
            self.remove(key);
        }
    }

    /// A caller stopped waiting: it was answered with `Running`, which promises the result, or hung
    /// up.
    pub(super) fn left(&mut self, key: &IdempotencyKey, id: CallId, promised: bool) -> Retained {
        let Some(call) = self.in_flight(key, id) else {
            return Retained::No;
        };
        call.waiting = call.waiting.saturating_sub(1);
        call.promised |= promised;
        self.retain_unless_awaited(key, id)
    }

    pub(super) fn expire(&mut self, key: &IdempotencyKey, id: CallId) {
        if self.retained.contains_key(&id) {
            self.remove(key);
        }
    }

    fn in_flight(&mut self, key: &IdempotencyKey, id: CallId) -> Option<&mut InFlightCall<L>> {
        self.latest.get_mut(key).filter(|call| call.id == id)
    }

    fn retain_unless_awaited(&mut self, key: &IdempotencyKey, id: CallId) -> Retained {
        let Some(call) = self.latest.get(key).filter(|call| call.id == id) else {
            return Retained::No;
        };
        let Some(result) = call.result.as_ref().filter(|_| call.waiting == 0) else {
            return Retained::No;
        };
        if !call.promised {
            self.remove(key);
            return Retained::No;
        }
        debug_assert!(!self.retained.contains_key(&id), "retained once");
        let uncollected = UncollectedResult {
            key: key.clone(),
            backend: call.backend,
            size: call.request.len() + result.size(),
        };
        if let Some(backend) = uncollected.backend {
            let ids = self.retained_by_backend.entry(backend).or_default();
            ids.insert(id);
        }
        self.retained_bytes += uncollected.size;
        self.retained.insert(id, uncollected);
        self.retained_gauge.inc();
        while self.retained_bytes > self.retained_limit
            && let Some((_, oldest)) = self.retained.first_key_value()
        {
            let oldest = oldest.key.clone();
            self.remove(&oldest);
        }
        if self.retained.contains_key(&id) {
            Retained::Yes
        } else {
            Retained::No
        }
    }

    /// Drops the results of other webhooks that an operation makes obsolete.
    fn drop_obsolete(&mut self, key: &IdempotencyKey, backend: Option<BackendId>) {
        if key.dry_run || self.retained.is_empty() {
            return;
        }
        let (create, delete) = (CreateLoadBalancer::INFO.name, DeleteLoadBalancer::INFO.name);
        let others = |uncollected: &&UncollectedResult| uncollected.key.webhook != key.webhook;
        let obsolete: Vec<IdempotencyKey> = match backend {
            Some(backend) => {
                let ids = self.retained_by_backend.get(&backend).into_iter().flatten();
                let uncollected = ids.filter_map(|id| self.retained.get(id));
                uncollected.filter(others).map(|u| u.key.clone()).collect()
            }
            // Other webhooks identify what is deleted by other names, so all results are dropped.
            // Deletions are rare, and running a hook again costs little.
            None if key.webhook == delete => {
                let uncollected = self.retained.values();
                uncollected.filter(others).map(|u| u.key.clone()).collect()
            }
            None if key.webhook == create => {
                let uncollected = self.retained.values().filter(|u| u.key.webhook == delete);
                uncollected.map(|u| u.key.clone()).collect()
            }
            None => Vec::new(),
        };
        for key in obsolete {
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &IdempotencyKey) {
        if let Some(call) = self.latest.remove(key) {
            self.remove_retained(call.id);
        }
    }

    fn remove_retained(&mut self, id: CallId) {
        let Some(uncollected) = self.retained.remove(&id) else {
            return;
        };
        self.retained_gauge.dec();
        self.retained_bytes -= uncollected.size;
        if let Some(backend) = uncollected.backend
            && let Some(ids) = self.retained_by_backend.get_mut(&backend)
        {
            ids.remove(&id);
            if ids.is_empty() {
                self.retained_by_backend.remove(&backend);
            }
        }
    }
}

#[cfg(test)]
mod tests;
