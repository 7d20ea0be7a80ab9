//! Random histories: what users do, what fails meanwhile, and then quiet, in which the cloud has to
//! become what is declared.
//!
//! A [`History`] follows from its seed. [`run`] performs it in a [`World`](crate::World) of its own; afterwards
//! the model says what the cloud has to hold. A history that fails is reduced
//! to the shortest one that still does ([`shrink`]) and printed as a script of kubectl commands.
//!
//! Every fifth history has two replicas, every third audits, and some have a cluster that is restored from a
//! backup (`History::of`). The wall clock of controllers jumps by up to a day: it decides nothing but when a
//! Bind's load balancer is tried again after a restart of the process (d57). All other delays, the queue and the
//! grace periods use tokio's `Instant`, and the lease the boot time (`leader/boot_time.rs`); times in conditions,
//! events and the lease are only shown. The other user of the wall clock is the rotation of certificates, whose
//! tests have a clock of their own (`serving/tests/`).

mod api_faults;
mod cloud;
mod controllers;
mod faults;
mod history;
mod invariants;
mod kind;
mod model;
mod objects;
mod perform;
mod random;
mod records;
mod run;
mod script;
mod shop;
mod shrink;
mod step;
mod waiting;

pub use history::History;
pub use run::{Finding, run};
pub use shrink::shrink;
