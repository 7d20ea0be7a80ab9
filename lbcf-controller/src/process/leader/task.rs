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
    election: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// One task, aborted when this is dropped.
    task: JoinSet<Result<(), LostLease>>,
    stop: oneshot::Sender<()>,
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
        let Some(config) = config else {
            let (_, leadership) = watch::channel(Leadership::Leader);
            return Ok(Self {
                leadership,
                election: None,
            });
        };
        let election = Election::new(client, config)?.with_guard(guard);
        let leadership = election.leadership();
        let (stop, stopped) = oneshot::channel();
        let mut task = JoinSet::new();
        task.spawn(election.run(async {
            // Dropping the sender stops it as well.
            let _ = stopped.await;
        }));
        Ok(Self {
            leadership,
            election: Some(Running { task, stop }),
        })
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
        if self.election.is_none() {
            std::future::pending::<()>().await;
        }
        // The channel closes when the election ends.
        let _ = self.leadership.wait_for(|now| !now.is_leader()).await;
        self.end_reason().await
    }

    /// Releases the Lease, if this process holds it.
    pub(crate) async fn resign(self) {
        if let Some(Running { mut task, stop }) = self.election {
            // Without a receiver the election has ended.
            let _ = stop.send(());
            while task.join_next().await.is_some() {}
        }
    }

    async fn end_reason(&mut self) -> LostLease {
        let ended = match &mut self.election {
            Some(election) => election.task.join_next().await,
            None => None,
        };
        match ended {
            Some(Ok(Err(lost))) => lost,
            Some(Err(error)) => LostLease::of_defect(error.to_string()),
            Some(Ok(Ok(()))) | None => LostLease::of_defect("the election ended".into()),
        }
    }
}
