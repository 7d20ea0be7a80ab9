//! Leader election: of several controllers of one cluster, one reconciles.
//!
//! The holder of the Lease is the leader and renews it. The others observe it and acquire it when it
//! has not changed for the duration that its holder wrote into it, measured by their own clocks from the
//! time they observed the last change: the times in the Lease are informative, so clocks may differ.
//! Every write carries the resourceVersion that it was decided on, so two candidates cannot both
//! acquire the Lease.
//!
//! A leader that cannot renew stops before the others may acquire the Lease, because its renew
//! deadline is shorter than the lease duration. [`LeaseGuard`] refuses calls and writes from then on,
//! whether or not the election has noticed. Requests that were sent just before may still take effect:
//! drivers recognize repeated calls by their `recordID`, and writes carry versions.
//!
//! [`decide`](decide::decide) has the rules, [`Election`] performs them, and [`ElectionTask`] runs the
//! election beside the controller.

mod boot_time;
mod config;
mod decide;
mod election;
mod guard;
mod task;

pub use config::{InvalidLeaderElection, LeaderElection};
pub use election::{Election, Leadership, LostLease};
pub(crate) use guard::{LeaseGuard, NotLeading};
pub(crate) use task::ElectionTask;

#[cfg(test)]
mod tests;
