//! The slim LBCF controller: it watches a cluster and tells drivers what to do.
//!
//! Its kinds are in [`api`]: a LoadBalancerDriver says where a driver is served, a LoadBalancer
//! names or asks for a load balancer, a BackendGroup says which pods, nodes or addresses stand behind
//! it, a Bind says both in one object, and the controller keeps a BackendRecord for each address that it registers. It knows no cloud
//! and no particular cluster: it is given a [`kube::Client`] and finds the drivers' URLs in their
//! objects.
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
//! *Observe*: one watch for each kind feeds an index that answers every question by one look-up,
//! and turns each change into work for a queue. *Decide*: for each kind a pure function looks at
//! what the index knows of one object and gives the next step; all rules are there, without I/O
//! and without a clock. *Act*: a step is carried out, a webhook called or a status written, and
//! its result goes back into the index, so that the next decision sees it before the watch tells.
//!
//! What is needed to undo an action is stored before the action: a finalizer before the first
//! call, the mark that creating began before `createLoadBalancer`, an address before
//! `ensureBackend`. So the process may end between any two lines, and the next one finishes.
//!
//! # How it is operated
//!
//! Several may run: with [`Options::leader_election`], one works and the others know the cluster
//! and wait ([`Election`]). [`Controller::health`] tells whether it is alive and ready, and its
//! metrics; [`HealthServer`] serves that over HTTP. [`cli`] has the flags, and the binary
//! `lbcf-controller` is nothing but them. What users write is checked and completed before it is
//! stored ([`admission`]).
//!
//! # Where each item is tested
//!
#![doc = include_str!("../ITEMS.md")]

pub mod admission;
pub mod api;
mod backend_group;
mod backend_record;
mod backends;
mod bind;
pub mod cli;
mod cluster;
mod context;
mod controller;
mod drivers;
mod error_text;
pub mod go_duration;
mod health;
mod index;
mod key;
mod leader;
mod load_balancer;
mod load_balancer_driver;
mod metrics;
pub mod names;
mod operation;
mod options;
mod periodic;
mod queue;
mod request_rate;
mod serving;
mod work;

pub use controller::{Controller, RunError};
pub use drivers::CallCounts;
pub use health::{Health, HealthServer};
pub use key::ObjectKey;
pub use leader::{Election, InvalidLeaderElection, LeaderElection, Leadership, LostLease};
pub use options::Options;
pub use queue::Backoff;
