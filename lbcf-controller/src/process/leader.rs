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

pub use config::{InvalidLeaderElection, LeaderElection};
pub use election::{Election, Leadership, LostLease};
pub(crate) use guard::{LeaseGuard, NotLeading};

use kube::Client;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// The candidacy of a controller. Dropping it ends the election immediately, without releasing the
/// Lease.
#[derive(Debug)]
pub(crate) struct ElectionTask {
    leadership: watch::Receiver<Leadership>,
    /// One task, or none without election. Dropping it aborts the task.
    election: JoinSet<Result<(), LostLease>>,
    /// The election releases the Lease and ends when this is dropped.
    stop: Option<oneshot::Sender<()>>,
}

impl ElectionTask {
    /// Starts the election, which permits acting by the guard. Without a configuration the controller
    /// is always the leader.
    ///
    /// # Errors
    /// [`InvalidLeaderElection`], see [`LeaderElection::check`].
    pub(crate) fn start(
        client: Client,
        config: Option<LeaderElection>,
        guard: LeaseGuard,
    ) -> Result<Self, InvalidLeaderElection> {
        let mut task = Self {
            leadership: watch::channel(Leadership::Leader).1,
            election: JoinSet::new(),
            stop: None,
        };
        if let Some(config) = config {
            let election = Election::new(client, config)?.with_guard(guard);
            let (stop, stopped) = oneshot::channel();
            task.leadership = election.leadership();
            task.stop = Some(stop);
            let stopped = async { drop(stopped.await) };
            task.election.spawn(election.run(stopped));
        }
        Ok(task)
    }

    pub(crate) fn leadership(&self) -> watch::Receiver<Leadership> {
        self.leadership.clone()
    }

    pub(crate) async fn until_leader(&mut self) -> Result<(), LostLease> {
        if self
            .leadership
            .wait_for(Leadership::is_leader)
            .await
            .is_ok()
        {
            return Ok(());
        }
        Err(self.end_reason().await)
    }

    /// Waits until this process, the leader, has lost the Lease; indefinitely without election.
    pub(crate) async fn until_lost(&mut self) -> LostLease {
        if self.stop.is_none() {
            std::future::pending::<()>().await;
        }
        // The channel closes when the election ends.
        let _ = self.leadership.wait_for(|now| !now.is_leader()).await;
        self.end_reason().await
    }

    /// Releases the Lease, if this process holds it.
    pub(crate) async fn resign(mut self) {
        drop(self.stop);
        while self.election.join_next().await.is_some() {}
    }

    async fn end_reason(&mut self) -> LostLease {
        match self.election.join_next().await {
            Some(Ok(Err(lost))) => lost,
            Some(Err(error)) => LostLease::of_defect(error.to_string()),
            Some(Ok(Ok(()))) | None => LostLease::of_defect("the election ended".into()),
        }
    }
}

#[cfg(test)]
mod tests;
