//! The backends of one listener or rule: which of them is next, and which are draining. And the groups of
//! a listener.

use super::backend::{Backend, Lease};
use super::schedule::Schedule;
use super::table::{Targets, any_rule, route};
use crate::resources::Rule;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// The number of backends that are tried for one connection or request.
pub(super) const TRIES: usize = 16;
/// The most changes that are kept.
const CHANGES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Group(Mutex<GroupState>);

#[derive(Debug, Default)]
struct GroupState {
    schedule: Schedule<Arc<Backend>>,
    draining: Vec<Arc<Backend>>,
    /// The last ones, oldest first.
    changes: VecDeque<BackendChange>,
}

/// A change of a backend, which is kept with its counters after it was removed: the second since 1970, and words
/// that begin with a sign for the kind of change.
pub(super) type BackendChange = (i64, Arc<Backend>, String);

/// Why nothing could be forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotForwarded {
    /// There is no backend with a weight above 0.
    NoBackend,
    /// No backend accepted a connection.
    Refused,
}

impl GroupState {
    /// Ends a backend that is no longer chosen, at the latest after `drain_time`.
    fn drain(&mut self, backend: Arc<Backend>, drain_time: Duration, runtime: &Handle) {
        self.draining.retain(|it| it.drains_for().is_some());
        self.changed(&backend, "▼ deregistered".to_owned());
        if drain_time.is_zero() {
            backend.end();
            return;
        }
        let deadline = Instant::now() + drain_time;
        backend.drain(deadline);
        // Nothing begins any more, so what is not open now will not be.
        if backend.counters.open() > 0 {
            self.draining.push(Arc::clone(&backend));
            runtime.spawn(async move {
                tokio::time::sleep_until(deadline).await;
                backend.expire(deadline);
            });
        }
    }

    fn changed(&mut self, backend: &Arc<Backend>, words: String) {
        if self.changes.len() == CHANGES {
            self.changes.pop_front();
        }
        let second = jiff::Timestamp::now().as_second();
        let change = (second, Arc::clone(backend), words);
        self.changes.push_back(change);
    }

    /// Adds a backend: the one that drains at this address, with what is open on it, or else a new one.
    fn insert(&mut self, address: &str, weight: u8) {
        let mut draining = self.draining.iter();
        let returning = draining.position(|it| it.address == address && it.returns());
        let backend = match returning {
            Some(at) => self.draining.remove(at),
            None => Backend::new(address),
        };
        self.changed(&backend, format!("▲ registered with weight {weight}"));
        self.schedule.insert(backend, weight);
    }
}

impl Group {
    /// Makes the targets the group's backends. What is open on a backend that is none any more
    /// drains. When this returns, no such backend is chosen.
    pub(super) fn update(&self, targets: &Targets, drain_time: Duration, runtime: &Handle) {
        let mut state = self.lock();
        let removed = state
            .schedule
            .update(|backend| targets.get(&backend.address).copied());
        let known: BTreeSet<String> = state
            .schedule
            .items()
            .map(|(backend, _)| backend.address.clone())
            .collect();
        for (address, weight) in targets {
            if !known.contains(address) {
                state.insert(address, *weight);
            }
        }
        for backend in removed {
            state.drain(backend, drain_time, runtime);
        }
    }

    /// Like [`update`](Self::update) for one target, without a look at the others' weights; it is
    /// removed if it has none.
    pub(super) fn set(
        &self,
        address: &str,
        weight: Option<u8>,
        drain_time: Duration,
        runtime: &Handle,
    ) {
        let mut state = self.lock();
        let at = state.schedule.position(|it| it.address == address);
        match (at, weight) {
            (Some(at), Some(weight)) => {
                let (backend, before) = state.schedule.set_weight(at, weight);
                if before != i64::from(weight) {
                    state.changed(&backend, format!("◆ weight {before} to {weight}"));
                }
            }
            (Some(at), None) => {
                let backend = state.schedule.remove(at);
                state.drain(backend, drain_time, runtime);
            }
            (None, Some(weight)) => state.insert(address, weight),
            (None, None) => {}
        }
    }

    /// The next backend that was not tried.
    pub(super) fn choose(&self, tried: &[Lease]) -> Option<Lease> {
        let may = |backend: &Arc<Backend>| {
            backend.target.is_ok() && !tried.iter().any(|it| Arc::ptr_eq(it, backend))
        };
        // Counted as open before the lock is released: a backend that is removed drains it.
        let mut state = self.lock();
        state.schedule.next(may).map(|backend| backend.lease())
    }

    /// Connects to the next backend that accepts.
    pub(super) async fn connect(&self) -> Result<(Lease, TcpStream), NotForwarded> {
        let mut tried = Vec::new();
        while tried.len() < TRIES
            && let Some(lease) = self.choose(&tried)
        {
            match lease.connect().await {
                Ok(stream) => return Ok((lease, stream)),
                Err(error) => {
                    tracing::debug!(backend = lease.address, %error, "a backend did not accept");
                    tried.push(lease);
                }
            }
        }
        Err(Self::not_forwarded(&tried))
    }

    pub(super) const fn not_forwarded(tried: &[Lease]) -> NotForwarded {
        if tried.is_empty() {
            NotForwarded::NoBackend
        } else {
            NotForwarded::Refused
        }
    }

    /// The backends with this address that were deregistered while something was open on them.
    pub(super) fn draining(&self, address: &str) -> Vec<Arc<Backend>> {
        let mut state = self.lock();
        state.draining.retain(|it| it.drains_for().is_some());
        let draining = state.draining.iter().filter(|it| it.address == address);
        draining.cloned().collect()
    }

    /// All backends, with the weights of those that are not draining.
    pub(super) fn backends(&self) -> Vec<(Arc<Backend>, Option<i64>)> {
        let mut state = self.lock();
        state.draining.retain(|it| it.drains_for().is_some());
        let active = state.schedule.items();
        let active = active.map(|(backend, weight)| (Arc::clone(backend), Some(weight)));
        let draining = state.draining.iter().map(|it| (Arc::clone(it), None));
        active.chain(draining).collect()
    }

    /// The backends, also those that were removed as far as their changes are kept, and the last changes.
    pub(super) fn recent(&self) -> (Vec<Arc<Backend>>, VecDeque<BackendChange>) {
        let state = self.lock();
        let active = state.schedule.items().map(|(backend, _)| backend);
        let changed = state.changes.iter().map(|(_, backend, _)| backend);
        let mut all = Vec::from_iter(active.chain(changed).cloned());
        all.sort_by_key(Arc::as_ptr);
        all.dedup_by_key(|it| Arc::as_ptr(it));
        (all, state.changes.clone())
    }

    /// Removes all backends, and breaks off what is open on them.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        let active = state.schedule.update(|_| None);
        let all = active.iter().chain(&state.draining);
        all.for_each(|backend| backend.end());
    }

    fn lock(&self) -> MutexGuard<'_, GroupState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The groups of a listener, by rule.
#[derive(Debug, Default)]
pub(super) struct Routes(RwLock<BTreeMap<Rule, Arc<Group>>>);

impl Routes {
    /// Makes these the groups. A group that is none any more ends at once.
    pub(super) fn update(
        &self,
        desired: &BTreeMap<Rule, Targets>,
        drain_time: Duration,
        runtime: &Handle,
    ) {
        let mut groups = self.0.write().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|rule, group| {
            let stays = desired.contains_key(rule);
            if !stays {
                group.end();
            }
            stays
        });
        for (rule, targets) in desired {
            let group = groups.entry(rule.clone()).or_default();
            group.update(targets, drain_time, runtime);
        }
    }

    /// The group for a request.
    pub(super) fn find(&self, host: &str, path: &str) -> Option<Arc<Group>> {
        let groups = self.0.read().unwrap_or_else(PoisonError::into_inner);
        groups.get(route(groups.keys(), host, path)?).cloned()
    }

    pub(super) fn get(&self, rule: &Rule) -> Option<Arc<Group>> {
        let groups = self.0.read().unwrap_or_else(PoisonError::into_inner);
        groups.get(rule).cloned()
    }

    /// The group of a listener without rules.
    pub(super) fn direct(&self) -> Arc<Group> {
        self.get(&any_rule()).unwrap_or_default()
    }

    pub(super) fn all(&self) -> Vec<(Rule, Arc<Group>)> {
        let groups = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let all = groups.iter();
        all.map(|(rule, group)| (rule.clone(), Arc::clone(group)))
            .collect()
    }

    /// Ends all groups.
    pub(super) fn end(&self) {
        let mut groups = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *groups)
            .values()
            .for_each(|group| group.end());
    }
}
