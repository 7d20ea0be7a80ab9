use super::RunError;
use crate::admission::{AdmissionError, AdmissionServer};
use crate::process::health_state::HealthState;
use crate::runtime::Context;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

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
