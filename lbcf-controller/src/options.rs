//! What can be set.

use crate::leader::LeaderElection;
use crate::queue::Backoff;
use lbcf_driver_sdk::client::HttpClient;
use std::collections::BTreeMap;
use std::time::Duration;

/// What can be set of a controller. The defaults suit a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How long failed work waits (b137).
    pub backoff: Backoff,
    /// How soon a driver that answered `Running` without a delay is asked again; 10 s, as the
    /// original (b137).
    pub poll_interval: Duration,
    /// How often something is asked again that may be answered otherwise later: a deregister
    /// webhook about pods that are not ready (b141).
    pub resync_period: Duration,
    /// The least time between two calls under `ensurePolicy: Always`, whatever the object says.
    pub min_ensure_period: Duration,
    /// Whether nothing is written anywhere: what would be done is logged, and only drivers that
    /// accept it are called, with `dryRun: true` (d23).
    pub dry_run: bool,
    /// How many objects are worked on at a time.
    pub workers: usize,
    /// How many calls to one driver may be in flight (u38).
    pub calls_per_driver: usize,
    /// Base URLs for drivers by the host that their objects name: for a controller outside the
    /// cluster, where the names of services lead nowhere.
    pub connect_to: BTreeMap<String, String>,
    /// How all drivers are connected to: certificates, a token, limits. Without it they are
    /// trusted as the system trusts them, and get no token.
    pub driver_client: Option<HttpClient>,
    /// The least time between two writes of one group's status.
    pub status_interval: Duration,
    /// How long one write to the API server may take.
    pub write_timeout: Duration,
    /// How long work in progress may take to finish when the controller is asked to stop.
    pub stop_timeout: Duration,
    /// How this controller takes turns with others of its cluster; none where it is the only one.
    pub leader_election: Option<LeaderElection>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            poll_interval: Duration::from_secs(10),
            resync_period: Duration::from_secs(60),
            min_ensure_period: Duration::from_secs(10),
            dry_run: false,
            workers: 256,
            calls_per_driver: 64,
            connect_to: BTreeMap::new(),
            driver_client: None,
            status_interval: Duration::from_secs(1),
            write_timeout: Duration::from_secs(15),
            stop_timeout: Duration::from_secs(15),
            leader_election: None,
        }
    }
}
