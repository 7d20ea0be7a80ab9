//! A controller's part in the election: whether it may work, and letting go in the end.

use super::{Election, LeaderElection, Leadership, LostLease};
use kube::Client;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// Whether a controller may work. Dropping it ends its part in the election at once, without
/// letting the Lease go.
#[derive(Debug)]
pub(crate) struct Standing {
    leadership: watch::Receiver<Leadership>,
    election: Option<Running>,
}

#[derive(Debug)]
struct Running {
    /// One task, which ends with this.
    task: JoinSet<Result<(), LostLease>>,
    stop: oneshot::Sender<()>,
}

impl Standing {
    /// Stands for election; without one, it leads at once and for ever.
    ///
    /// # Errors
    /// [`super::InvalidLeaderElection`], see [`LeaderElection::check`].
    pub(crate) fn start(
        client: Client,
        config: Option<LeaderElection>,
    ) -> Result<Self, super::InvalidLeaderElection> {
        let Some(config) = config else {
            let (_, leadership) = watch::channel(Leadership::Leader);
            let election = None;
            return Ok(Self {
                leadership,
                election,
            });
        };
        let election = Election::new(client, config)?;
        let leadership = election.leadership();
        let (stop, stopped) = oneshot::channel();
        let mut task = JoinSet::new();
        task.spawn(election.run(async {
            // Dropped means stopped.
            let _ = stopped.await;
        }));
        Ok(Self {
            leadership,
            election: Some(Running { task, stop }),
        })
    }

    /// Who leads.
    pub(crate) fn leadership(&self) -> watch::Receiver<Leadership> {
        self.leadership.clone()
    }

    /// Waits until this process leads.
    pub(crate) async fn until_leader(&mut self) -> Result<(), LostLease> {
        if self
            .leadership
            .wait_for(Leadership::is_leader)
            .await
            .is_ok()
        {
            return Ok(());
        }
        Err(self.why_it_ended().await)
    }

    /// Waits until this process, which leads, may do so no more. That may be for ever.
    pub(crate) async fn until_lost(&mut self) -> LostLease {
        if self.election.is_none() {
            std::future::pending::<()>().await;
        }
        // The channel closes when the election ends, of whatever.
        let _ = self.leadership.wait_for(|now| !now.is_leader()).await;
        self.why_it_ended().await
    }

    /// Lets the lead go, if there is one to let go.
    pub(crate) async fn resign(self) {
        if let Some(Running { mut task, stop }) = self.election {
            // It has ended if nobody listens.
            let _ = stop.send(());
            while task.join_next().await.is_some() {}
        }
    }

    async fn why_it_ended(&mut self) -> LostLease {
        let ended = match &mut self.election {
            Some(election) => election.task.join_next().await,
            None => None,
        };
        match ended {
            Some(Ok(Err(lost))) => lost,
            Some(Err(error)) => LostLease::of_defect(error.to_string()),
            Some(Ok(Ok(()))) | None => LostLease::of_defect("the election is over".into()),
        }
    }
}
