//! The options of a controller.

use crate::api::{ObjectKey, names};
use crate::process::announced::Announced;
use crate::process::backoff::Backoff;
use crate::process::driver_addresses::DriverAddresses;
use crate::process::leader::LeaderElection;
use crate::process::wall_clock::WallClock;
use lbcf_driver_client::HttpClient;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// The options of a controller. The defaults suit a controller in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Delays after failures.
    pub backoff: Backoff,
    /// Delay after which a driver that answered `Running` without a delay is called again; default
    /// 10 s.
    pub poll_interval: Duration,
    /// Period in which a deregister webhook is called again for pods that are not ready; default 1 min.
    pub resync_period: Duration,
    /// The minimum period of `ensurePolicy: Always`, whatever the object requests; default 10 s.
    pub min_ensure_period: Duration,
    /// Time that a BackendRecord without an owner waits for one before its backend is deregistered;
    /// default 1 min.
    pub orphan_grace_period: Duration,
    /// Time that a registered endpoint may be in none of its Service's EndpointSlices, as while it moves
    /// from one to another, before it is deregistered; default 3 s. One that is terminating
    /// is deregistered at once.
    pub endpoint_grace_period: Duration,
    /// Time that a backend which is not wanted any more and can still serve waits for those that replace it to be
    /// registered; default 2 min, 0 for none.
    pub replacement_timeout: Duration,
    /// When more than half of at least four backends of an owner become unready within this time, the rest of these is
    /// deregistered one by one, each after this time; default 30 s, 0 to deregister all at once.
    pub readiness_brake: Duration,
    /// The addresses that drivers in kube-system may announce in the status of Services; default any.
    pub announced: Announced,
    /// The same for drivers in other namespaces; default none.
    pub announced_by_tenants: Announced,
    /// The addresses at which drivers in kube-system may be called; default everything.
    pub driver_addresses: DriverAddresses,
    /// The same for drivers in other namespaces; default any.
    pub driver_addresses_of_tenants: DriverAddresses,
    /// Those of the API server, at which no driver is called unless they are listed; default none.
    pub api_server: Vec<IpAddr>,
    /// Period in which the backends that are registered with load balancers are compared with the
    /// BackendRecords; default 10 min, 0 for never.
    pub audit_period: Duration,
    /// Log what would be done instead of writing, and call only drivers that accept `dryRun: true`.
    pub dry_run: bool,
    /// Number of objects that are reconciled concurrently; default 256.
    pub workers: usize,
    /// The maximum number of concurrent calls to one driver; default 64.
    pub calls_per_driver: usize,
    /// Period in which each driver is asked for its health; default 30 s, `None` never.
    pub driver_health_period: Option<Duration>,
    /// Base URLs to use instead of a driver's, by the host in its URL: for a controller outside the
    /// cluster, where names of Services cannot be resolved.
    pub connect_to: BTreeMap<String, String>,
    /// The client for all drivers: certificates, token, limits. By default the system's trust roots
    /// and no token.
    pub driver_client: Option<HttpClient>,
    /// The client for drivers outside kube-system, without credentials that are not for them; by default the same.
    pub driver_client_of_tenants: Option<HttpClient>,
    /// The minimum time between two writes of the counts of a group or Bind, and how long a wait
    /// has to last before it is reported by a write of its own; default 1 s.
    pub status_interval: Duration,
    /// When a wait counts as long: a webhook that responds `Running`, pods that do not become Ready,
    /// backends that are being registered; default 10 min.
    pub long_wait: Duration,
    /// When an event is repeated about an object that still waits or fails; default 1 h.
    pub event_repeat: Duration,
    /// Time that a driver has for an address before the record is created without it; default 1 s. The creation of other
    /// records waits meanwhile.
    pub address_timeout: Duration,
    /// The timeout of a write to the API server; default 15 s.
    pub write_timeout: Duration,
    /// Time for reconciles in progress to finish after a stop; default 15 s.
    pub stop_timeout: Duration,
    /// The Secret of the key that signs BackendRecords, which is created if there is none; default
    /// `lbcf-controller-records` in kube-system.
    pub record_key: ObjectKey,
    /// Leader election; `None`, the default, for a cluster with a single controller.
    pub leader_election: Option<LeaderElection>,
    /// Ensure every load balancer and every registered backend once, as after a change: for the first
    /// start after the cluster was restored from a backup.
    pub ensure_at_start: bool,
    /// The clock of conditions and events; default the system's.
    pub wall_clock: WallClock,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            poll_interval: Duration::from_secs(10),
            resync_period: Duration::from_secs(60),
            min_ensure_period: Duration::from_secs(10),
            orphan_grace_period: Duration::from_secs(60),
            endpoint_grace_period: Duration::from_secs(3),
            replacement_timeout: Duration::from_secs(120),
            readiness_brake: Duration::from_secs(30),
            announced: Announced::any(),
            announced_by_tenants: Announced::default(),
            driver_addresses: DriverAddresses::everything(),
            driver_addresses_of_tenants: DriverAddresses::any(),
            api_server: Vec::new(),
            audit_period: Duration::from_secs(600),
            dry_run: false,
            workers: 256,
            calls_per_driver: 64,
            driver_health_period: Some(Duration::from_secs(30)),
            connect_to: BTreeMap::new(),
            driver_client: None,
            driver_client_of_tenants: None,
            status_interval: Duration::from_secs(1),
            long_wait: Duration::from_secs(600),
            event_repeat: Duration::from_secs(3600),
            address_timeout: Duration::from_secs(1),
            write_timeout: Duration::from_secs(15),
            stop_timeout: Duration::from_secs(15),
            record_key: ObjectKey::new(names::SYSTEM_NAMESPACE, names::RECORD_KEY_SECRET),
            leader_election: None,
            ensure_at_start: false,
            wall_clock: WallClock::default(),
        }
    }
}
