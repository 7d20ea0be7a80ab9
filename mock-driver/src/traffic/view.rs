//! The listeners of the data plane, also as a document for users and the page.

use super::address::Addresses;
use super::backend::Backend;
use super::counts::TrafficCounts;
use super::listener::RunningListener;
use super::table::ListenerKey;
use crate::resources::{ListenerProtocol, Rule};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// The traffic of a load balancer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerTraffic {
    /// Its address on this machine; none as long as it has no listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Ipv4Addr>,
    /// The sum over its listeners.
    pub counts: TrafficCounts,
    /// The listeners, by ID.
    pub listeners: Vec<ListenerTraffic>,
}

/// The traffic of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenerTraffic {
    /// The ID of the listener.
    pub id: String,
    /// The protocol of the listener.
    pub protocol: ListenerProtocol,
    /// The port of the listener in the cloud.
    pub port: u16,
    /// Where it listens on this machine: the port may be another, as [`PORT_OFFSET`] explains.
    ///
    /// [`PORT_OFFSET`]: crate::PORT_OFFSET
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listens: Option<SocketAddr>,
    /// The difference from a real cloud: another port, or an address that others have, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why it does not listen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The certificate of an HTTPS listener, in PEM, for clients to trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// The counts of what it has served.
    pub counts: TrafficCounts,
    /// Its backends.
    pub backends: Vec<BackendTraffic>,
}

/// The traffic of a backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendTraffic {
    /// The address, as it was bound.
    pub addr: String,
    /// The domain of its rule, on HTTP and HTTPS listeners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The path of its rule, on HTTP and HTTPS listeners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where that leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<SocketAddr>,
    /// Why nothing can be forwarded to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The weight; none for a backend that is draining.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
    /// The time until what is open is broken off, in milliseconds, for one that is draining.
    #[serde(rename = "drainingMs", skip_serializing_if = "Option::is_none")]
    pub draining_ms: Option<u64>,
    /// The counts of what it has served since it was bound.
    pub counts: TrafficCounts,
}

/// The traffic of all listeners of a protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrafficTotal {
    /// The counts of those that are closed are included.
    pub(crate) counts: TrafficCounts,
    /// The number of backends that are draining.
    pub(crate) draining: usize,
}

#[derive(Debug)]
pub(super) struct PlaneState {
    pub(super) addresses: Addresses,
    pub(super) listeners: BTreeMap<ListenerKey, DeclaredListener>,
    pub(super) is_stopped: bool,
}

/// A listener of the cloud.
#[derive(Debug)]
pub(super) struct DeclaredListener {
    pub(super) protocol: ListenerProtocol,
    pub(super) port: u16,
    /// Or why it does not listen.
    pub(super) running: Result<RunningListener, String>,
}

impl PlaneState {
    /// The number of backends of a protocol's listeners that are draining.
    pub(super) fn draining(&self, protocol: ListenerProtocol) -> usize {
        let listeners = self.listeners.values();
        let listeners = listeners.filter(|listener| listener.protocol == protocol);
        let running = listeners.filter_map(|listener| listener.running.as_ref().ok());
        let groups = running.flat_map(|running| running.routes.all());
        let backends = groups.flat_map(|(_, group)| group.backends());
        backends.filter(|(_, weight)| weight.is_none()).count()
    }

    pub(super) fn load_balancers(&self) -> BTreeMap<String, LoadBalancerTraffic> {
        let mut all = BTreeMap::new();
        for (key, listener) in &self.listeners {
            let shown = listener_traffic(&key.listener, listener, self.addresses.is_shared());
            let load_balancer = all.entry(key.load_balancer.clone());
            let load_balancer = load_balancer.or_insert_with(|| LoadBalancerTraffic {
                address: self.addresses.get(&key.load_balancer),
                counts: TrafficCounts::default(),
                listeners: Vec::new(),
            });
            load_balancer.counts += shown.counts;
            load_balancer.listeners.push(shown);
        }
        all
    }
}

fn listener_traffic(id: &str, listener: &DeclaredListener, is_shared: bool) -> ListenerTraffic {
    let running = listener.running.as_ref();
    let addr = running.ok().map(|it| it.addr);
    let groups = running.map(|it| it.routes.all()).unwrap_or_default();
    let has_rules = listener.protocol.has_rules();
    let backends = groups.iter().flat_map(|(rule, group)| {
        let rule = has_rules.then_some(rule);
        let backends = group.backends().into_iter();
        backends.map(move |(backend, weight)| backend_traffic(rule, &backend, weight))
    });
    ListenerTraffic {
        id: id.to_owned(),
        protocol: listener.protocol,
        port: listener.port,
        listens: addr,
        note: addr.and_then(|addr| note(listener.port, addr, is_shared)),
        error: running.err().cloned(),
        certificate: running.ok().and_then(|it| it.certificate.clone()),
        counts: running
            .map(|it| it.context.counters.read())
            .unwrap_or_default(),
        backends: backends.collect(),
    }
}

/// The differences from a real cloud, in words.
fn note(port: u16, addr: SocketAddr, is_shared: bool) -> Option<String> {
    let mut notes = Vec::new();
    if addr.port() != port {
        let served = addr.port();
        notes.push(format!("port {port} is served at {served} on this machine"));
    }
    if is_shared {
        notes.push("127.0.0.2 cannot be bound here, so all load balancers have 127.0.0.1".into());
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn backend_traffic(rule: Option<&Rule>, backend: &Backend, weight: Option<i64>) -> BackendTraffic {
    let remaining = backend.drains_for().filter(|_| weight.is_none());
    let in_ms = |remaining: Duration| u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX);
    BackendTraffic {
        addr: backend.address.clone(),
        domain: rule.map(|rule| rule.domain.clone()),
        url: rule.map(|rule| rule.url.clone()),
        target: backend.target.as_ref().ok().copied(),
        error: backend.target.as_ref().err().cloned(),
        weight,
        draining_ms: remaining.map(in_ms),
        counts: backend.counters.read(),
    }
}
