//! The election as a task beside the controller.

use super::{Election, LeaderElection, Leadership, LeaseGuard, LostLease};
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
    /// [`super::InvalidLeaderElection`], see [`LeaderElection::check`].
    pub(crate) fn start(
        client: Client,
        config: Option<LeaderElection>,
        guard: LeaseGuard,
    ) -> Result<Self, super::InvalidLeaderElection> {
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
