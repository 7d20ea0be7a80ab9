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
//!
//! Numbers such as (b120) in comments refer to the lists in `docs/`.

mod absences;
pub mod admission;
pub mod api;
mod api_client;
mod audit;
mod backend_group;
mod backend_record;
mod backends;
mod bind;
mod call_delays;
pub mod cli;
mod cluster;
mod context;
mod controller;
pub mod conversion;
mod drivers;
mod earlier_fields;
mod error_text;
mod health;
mod index;
mod key;
mod leader;
mod load_balancer;
mod load_balancer_driver;
mod load_balancer_lifecycle;
mod lock;
mod metrics;
pub mod names;
mod object;
mod one_call;
mod operation;
mod options;
mod orphans;
mod periodic;
mod placeholders;
mod queue;
mod readiness_gate;
mod reconcile;
mod retry_times;
mod service_class;
mod serving;
mod token_bucket;
mod verdicts;
mod waiting;
mod wall_clock;

pub use controller::{Controller, RunError};
pub use drivers::CallCounts;
pub use health::{Health, HealthServer};
pub use key::ObjectKey;
pub use leader::{Election, InvalidLeaderElection, LeaderElection, Leadership, LostLease};
pub use options::Options;
pub use queue::Backoff;
pub use wall_clock::WallClock;
