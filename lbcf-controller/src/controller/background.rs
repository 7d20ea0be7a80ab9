//! The tasks beside the workers, and why a controller ends that was not asked to stop.

use crate::admission::{AdmissionError, AdmissionServer};
use crate::cluster::{EventWriter, WATCHED_KINDS, watch};
use crate::process::health_state::HealthState;
use crate::process::leader::{InvalidLeaderElection, LostLease};
use crate::runtime::Context;
use futures::StreamExt;
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// The tasks that run as long as the controller: they keep the index up to date and write events.
pub(super) struct Background {
    tasks: JoinSet<()>,
    lists: mpsc::Sender<oneshot::Sender<()>>,
    health: Arc<HealthState>,
}

impl Background {
    pub(super) fn start(
        context: &Arc<Context>,
        health: &Arc<HealthState>,
        events: EventWriter,
    ) -> Self {
        let (lists, requested) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(events.run());
        tasks.spawn(sync(Arc::clone(context), Arc::clone(health), requested));
        Self {
            tasks,
            lists,
            health: Arc::clone(health),
        }
    }

    /// Lists all objects, and follows their changes from there. Until the lists are complete, the index
    /// has what was known before.
    pub(super) async fn list(&self) -> Result<(), RunError> {
        let (done, listed) = oneshot::channel();
        let requested = self.lists.send(done).await;
        requested.map_err(|_| self.failed())?;
        listed.await.map_err(|_| self.failed())
    }

    pub(super) async fn until_failed(&mut self) -> RunError {
        self.tasks.join_next().await;
        self.failed()
    }

    fn failed(&self) -> RunError {
        let tasks = "watching or writing events";
        self.health.failed(format!("{tasks} ended unexpectedly"));
        RunError::TaskEnded(tasks)
    }
}

/// Keeps the index up to date from the first request for lists on.
async fn sync(
    context: Arc<Context>,
    health: Arc<HealthState>,
    mut lists: mpsc::Receiver<oneshot::Sender<()>>,
) {
    let mut requested = lists.recv().await;
    while let Some(done) = requested {
        requested = tokio::select! {
            requested = lists.recv() => requested,
            () = follow(&context, &health, done) => None,
        };
    }
}

/// Applies the events of new watches to the index, and reports when all objects are listed.
async fn follow(context: &Context, health: &HealthState, done: oneshot::Sender<()>) {
    context.index().forget_versions();
    let mut events = pin!(watch(&context.client));
    let mut done = Some(done);
    let mut listed = HashSet::new();
    while let Some(event) = events.next().await {
        if event.is_init_done && listed.insert(event.kind) {
            health.listed(event.kind);
        }
        let requests = (event.apply)(&mut context.index());
        context.queue.add(requests);
        if listed.len() == WATCHED_KINDS
            && let Some(done) = done.take()
        {
            context.index().begin_lead();
            // Without a receiver the controller is ending.
            let _ = done.send(());
        }
    }
}

/// The task that serves admission webhooks, if they are served.
pub(super) struct AdmissionTask {
    tasks: JoinSet<Result<(), AdmissionError>>,
    stop: Option<oneshot::Sender<()>>,
}

impl AdmissionTask {
    pub(super) fn start(
        server: Option<AdmissionServer>,
        context: &Arc<Context>,
        health: &Arc<HealthState>,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let stop = server.map(|server| {
            let (stop, stopped) = oneshot::channel();
            let stopped = async {
                // Dropping the sender stops the server too.
                let _ = stopped.await;
            };
            tasks.spawn(server.serve(Arc::clone(context), Arc::clone(health), stopped));
            stop
        });
        Self { tasks, stop }
    }

    /// Waits until serving fails, indefinitely if nothing is served.
    pub(super) async fn until_failed(&mut self) -> RunError {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => error.into(),
            Some(Ok(Ok(())) | Err(_)) => RunError::TaskEnded("serving admission"),
            None => std::future::pending().await,
        }
    }

    /// Finishes the requests in progress; those that take longer are aborted.
    pub(super) async fn stop(mut self, timeout: Duration) {
        drop(self.stop.take());
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(timeout, ended).await;
    }
}

/// Why a controller ended that was not asked to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The options of leader election are invalid.
    #[error(transparent)]
    LeaderElection(#[from] InvalidLeaderElection),
    /// Another controller leads, or soon will.
    #[error(transparent)]
    LostLease(#[from] LostLease),
    /// Admission cannot be served.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// A task ended that runs as long as the controller, which is a defect.
    #[error("{0} ended unexpectedly; this is a defect")]
    TaskEnded(&'static str),
}
