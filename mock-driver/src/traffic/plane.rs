//! The listeners that run, kept as the cloud declares them.

use super::address::Addresses;
use super::context::{ListenerContext, Workers};
use super::counts::Counters;
use super::group::{Group, Routes};
use super::listener::RunningListener;
use super::options::TrafficOptions;
use super::table::{ListenerKey, ListenerSpec, changes, table};
use super::timeline::Timeline;
use super::view::{DeclaredListener, LoadBalancerTraffic, PlaneState, TrafficTotal};
use crate::load::{LoadGenerator, TrafficReport};
use crate::resources::{CloudState, Endpoint, ListenerProtocol};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// The data plane. The cloud applies every change to it before the call that caused it returns, so that a
/// backend whose deregistration has succeeded gets nothing new.
#[derive(Debug)]
pub(crate) struct DataPlane {
    options: TrafficOptions,
    runtime: Handle,
    workers: Arc<Workers>,
    /// The counters of all listeners of a protocol, those that are closed included, in the order of
    /// [`ListenerProtocol::ALL`].
    totals: [Arc<Counters>; ListenerProtocol::ALL.len()],
    state: Mutex<PlaneState>,
    load: Mutex<Option<LoadGenerator>>,
}

/// The connections or requests that are open on a backend that was deregistered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draining {
    /// The number of those that are open.
    pub(crate) open: u64,
    /// The time until they are broken off.
    pub(crate) remaining: Duration,
}

impl DataPlane {
    /// A data plane without listeners, whose tasks run on the current runtime.
    pub(crate) fn new(options: TrafficOptions) -> Self {
        let state = PlaneState {
            addresses: Addresses::new(options.addresses),
            listeners: BTreeMap::new(),
            is_stopped: false,
        };
        Self {
            options,
            runtime: Handle::current(),
            workers: Arc::new(Workers::start()),
            totals: Default::default(),
            state: Mutex::new(state),
            load: Mutex::default(),
        }
    }

    /// Makes the listeners and backends those of the cloud. Binds sockets, which does not block.
    pub(crate) fn apply(&self, cloud: &CloudState) {
        let mut state = self.lock();
        if state.is_stopped {
            return;
        }
        let desired = table(cloud);
        let running = state.listeners.iter();
        let changes = changes(
            running.map(|(key, it)| (key, (it.protocol, it.port))),
            &desired,
        );
        for key in &changes.close {
            state.listeners.remove(key);
        }
        let exists = |id: &str| desired.keys().any(|key| key.load_balancer == id);
        state.addresses.retain(exists);
        for (key, spec) in desired {
            if changes.open.contains(&key) {
                let listener = self.open(&mut state.addresses, &key, &spec);
                state.listeners.insert(key, listener);
            } else if let Some(listener) = state.listeners.get(&key)
                && let Ok(running) = &listener.running
            {
                self.update(&running.routes, &spec);
            }
        }
    }

    fn open(
        &self,
        addresses: &mut Addresses,
        key: &ListenerKey,
        spec: &ListenerSpec,
    ) -> DeclaredListener {
        let ListenerKey {
            load_balancer,
            listener,
        } = key;
        let candidates = addresses.candidates(load_balancer, spec.port);
        let routes = Routes::default();
        self.update(&routes, spec);
        let protocol = spec.protocol;
        let total = &self.totals[protocol as usize];
        let context = ListenerContext::new(self.options, total, &self.workers);
        let opened = RunningListener::open(protocol, &candidates, routes, context, &self.runtime);
        match &opened {
            Ok(running) => {
                addresses.bound(load_balancer, running.addr);
                let (addr, port) = (running.addr, spec.port);
                tracing::info!(load_balancer, listener, %protocol, port, %addr, "listens");
            }
            Err(error) => {
                let port = spec.port;
                tracing::error!(load_balancer, listener, %protocol, port, %error, "cannot listen");
            }
        }
        DeclaredListener {
            protocol,
            port: spec.port,
            running: opened.map_err(|error| format!("port {}: {error}", spec.port)),
        }
    }

    /// Applies the weight of one target, or its removal if it has none.
    pub(crate) fn set_target(&self, endpoint: &Endpoint, address: &str, weight: Option<u8>) {
        if let Some((protocol, group)) = self.group(endpoint) {
            group.set(address, weight, self.drain_time(protocol), &self.runtime);
        }
    }

    /// The group of an endpoint that listens, and the protocol of its listener.
    fn group(&self, endpoint: &Endpoint) -> Option<(ListenerProtocol, Arc<Group>)> {
        let key = ListenerKey {
            load_balancer: endpoint.load_balancer.clone(),
            listener: endpoint.listener.clone(),
        };
        let state = self.lock();
        let listener = state.listeners.get(&key)?;
        let routes = &listener.running.as_ref().ok()?.routes;
        let group = if listener.protocol.has_rules() {
            routes.get(&endpoint.rule())?
        } else {
            routes.direct()
        };
        Some((listener.protocol, group))
    }

    fn update(&self, routes: &Routes, spec: &ListenerSpec) {
        routes.update(&spec.groups, self.drain_time(spec.protocol), &self.runtime);
    }

    /// Zero for datagrams, which belong to no connection that could end.
    const fn drain_time(&self, protocol: ListenerProtocol) -> Duration {
        match protocol {
            ListenerProtocol::Udp => Duration::ZERO,
            _ => self.options.drain_time,
        }
    }

    /// Waits for what is open on a backend that was deregistered from this endpoint, for at most
    /// `wait`. Returns what still is.
    pub(crate) async fn drained(
        &self,
        endpoint: &Endpoint,
        address: &str,
        wait: Duration,
    ) -> Option<Draining> {
        let group = self.group(endpoint);
        let backends = group
            .map(|(_, group)| group.draining(address))
            .unwrap_or_default();
        let all = async {
            for backend in &backends {
                backend.drained().await;
            }
        };
        tokio::time::timeout(wait, all).await.err()?;
        let left = backends
            .iter()
            .filter_map(|it| Some((it, it.drains_for()?)));
        left.fold(None, |all: Option<Draining>, (backend, remaining)| {
            let (open, longest) = all.map_or((0, Duration::ZERO), |it| (it.open, it.remaining));
            Some(Draining {
                open: open + backend.counters.open(),
                remaining: remaining.max(longest),
            })
        })
    }

    /// The traffic of each load balancer, by ID.
    pub(crate) fn view(&self) -> BTreeMap<String, LoadBalancerTraffic> {
        self.lock().load_balancers()
    }

    /// The last seconds of each load balancer, from `since` on, by ID.
    pub(crate) fn timelines(&self, since: i64) -> BTreeMap<String, Timeline> {
        self.lock().timelines(since)
    }

    /// Sends at most so many requests a second to the listeners in turn; none with 0.
    pub(crate) fn set_load(self: &Arc<Self>, rate: u32) {
        let _runtime = self.runtime.enter();
        let (plane, turn) = (Arc::downgrade(self), AtomicUsize::new(0));
        let next = move |_| {
            plane
                .upgrade()?
                .lock()
                .destination(turn.fetch_add(1, Relaxed))
        };
        let load = (rate > 0).then(|| LoadGenerator::start(rate, next));
        *self.load.lock().unwrap_or_else(PoisonError::into_inner) = load;
    }

    /// The rate of [`set_load`](Self::set_load) and its requests so far; 0 and none while it is off.
    pub(crate) fn load(&self) -> (u32, TrafficReport) {
        let load = self.load.lock().unwrap_or_else(PoisonError::into_inner);
        let load = load.as_ref().map(|load| (load.rate, load.report()));
        load.unwrap_or_default()
    }

    /// The traffic of all listeners, in the order of [`ListenerProtocol::ALL`].
    pub(crate) fn totals(&self) -> [TrafficTotal; ListenerProtocol::ALL.len()] {
        let state = self.lock();
        ListenerProtocol::ALL.map(|protocol| TrafficTotal {
            counts: self.totals[protocol as usize].read(),
            draining: state.draining(protocol),
        })
    }

    /// Closes all listeners, for good.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        state.listeners.clear();
    }

    fn lock(&self) -> MutexGuard<'_, PlaneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
