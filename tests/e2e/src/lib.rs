//! The test environment of the whole-system tests: a cluster, a cloud with its driver, and
//! controllers, all in one process.
//!
//! With `LBCF_E2E_KUBECONFIG` the cluster is any other one (see README.md).
//!
//! Tests wait for conditions with a deadline, never for a time, and assert on the state of the
//! cloud rather than on what the controller reports.
//!
//! ```no_run
//! use lbcf_e2e::{World, manifests};
//!
//! # async fn example() {
//! let world = World::new().await;
//! let _controller = world.start_controller();
//! world.apply_basics(2).await;
//! world.until_targets(&["web-0", "web-1"], "50").await;
//! # }
//! ```

// Helpers of tests fail as tests do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc
)]

mod admission;
pub mod chaos;
mod cluster;
mod cost;
mod faulty;
mod held;
mod kill_switch;
mod leader;
mod lost_response;
pub mod manifests;
mod nodes;
mod objects;
mod one_clock;
mod outages;
mod pausable;
mod proxy;
mod reasons;
mod remote;
mod sample;
mod seed;
mod stale;
mod stored;
mod tampered;
mod tenant;
mod view;
mod wait;
mod world;

pub use admission::AdmittingController;
pub use cluster::{Cluster, KUBECONFIG, is_remote, needs_embedded};
pub use cost::{CONTROLLER, Cost};
pub use faulty::{Faults, faulty};
pub use held::{Release, hold_list};
pub use kill_switch::{KillSwitch, WriteMoment, WritePoint, client_killed_at};
pub use leader::leads;
pub use lost_response::lose_response;
pub use one_clock::{Execution, OneClock};
pub use outages::Outages;
pub use pausable::{HeldWrites, PausableController, Paused};
pub use proxy::{DriverProxy, Latch, ProxiedCall, ProxyAction};
pub use remote::{RemoteCluster, Session, inventory};
pub use sample::{is_exhaustive, sample};
pub use seed::scrambled;
pub use stale::{Staleness, View, client_stale_at};
pub use stored::ClusterService;
pub use tampered::tampered;
pub use wait::{until, until_is, until_within};
pub use world::{World, kill};
