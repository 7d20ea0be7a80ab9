//! The slim LBCF controller: it reconciles load balancers and backends by calling drivers.
//!
//! The kinds are in [`api`]: a LoadBalancerDriver is a driver's URL, a LoadBalancer a load balancer that
//! exists or is to be created, a BackendGroup the pods, nodes or addresses to register with it, and a Bind
//! both in one object. The controller keeps a BackendRecord for each backend that it registers. It depends
//! on no cloud and no particular cluster: it uses the given [`kube::Client`] and the drivers' URLs.
//!
//! ```no_run
//! use lbcf_controller::{Controller, Options};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = kube::Client::try_default().await?;
//! let stop = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
//! Controller::new(client, Options::default()).run(stop).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! One watch for each kind feeds the index, which answers every question of reconciling by a lookup and
//! turns each change into reconcile requests. Workers take requests from the queue and call that kind's
//! `reconcile`, which reads the object's state from the index, asks a pure `decide` function for the next
//! action, performs it, and returns when to come back. All rules are in the decide functions, without I/O
//! and with the time as an argument. The result of a write goes into the index, so that the next
//! decision sees it before the watch delivers it.
//!
//! Whatever is needed to undo an action is stored before the action: a finalizer before the first call, the
//! condition that creation has begun before `createLoadBalancer`, the address before `ensureBackend`. The
//! process may end at any point, and the next one continues.
//!
//! # Operation
//!
//! With [`Options::leader_election`], several controllers can run: the leader reconciles, and the others
//! keep their index up to date ([`Election`]). [`Controller::health`] provides liveness, readiness and
//! metrics, [`HealthServer`] serves them. [`admission`] validates and mutates objects before they are
//! stored; [`conversion`] rewrites manifests of earlier editions. [`cli`] has the flags of the binary `lbcf-controller`.

pub mod admission;
pub mod api;
mod audit;
mod backends;
pub mod cli;
mod cluster;
mod controller;
pub mod conversion;
mod drivers;
mod index;
mod kinds;
mod process;
mod runtime;

pub use api::{ObjectKey, names};
pub use controller::health::{Health, HealthServer};
pub use controller::{Controller, RunError};
pub use drivers::CallCounts;
pub use process::announced::Announced;
pub use process::backoff::Backoff;
pub use process::driver_addresses::DriverAddresses;
pub use process::leader::{Election, InvalidLeaderElection, LeaderElection, Leadership, LostLease};
pub use process::options::Options;
pub use process::wall_clock::WallClock;
