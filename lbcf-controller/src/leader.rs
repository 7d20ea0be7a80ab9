//! Leader election: of several controllers of one cluster, one works.
//!
//! Whoever holds the cluster's Lease is the leader, and has to renew it. Whoever does not, watches
//! it, and takes it when it has not changed for as long as its holder promised to need at most.
//! How long that is already is measured by each one's own clock from when it saw the last change:
//! the times in the Lease are for people, so clocks that differ do no harm. Each write is bound to
//! the version that it was decided on, so two cannot take the Lease at once.
//!
//! A leader that cannot renew stops being one while the others still wait: its renew deadline is
//! shorter than the lease duration. What it had asked of drivers or the API server just then may
//! still happen; drivers tell repeated calls apart by their `recordID`, writes carry versions.
//!
//! [`decide`](decide::decide) holds the rules; [`Election`] carries them out; [`Standing`] is how
//! a controller takes part.

mod config;
mod decide;
mod election;
mod record;
mod standing;

pub use config::{InvalidLeaderElection, LeaderElection};
pub use election::{Election, Leadership, LostLease};
pub(crate) use standing::Standing;

#[cfg(test)]
mod tests;
