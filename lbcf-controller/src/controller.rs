//! The controller: watch events are applied to the index, which enqueues requests, which workers
//! reconcile.

mod background;
pub(crate) mod health;
mod workers;

use crate::admission::AdmissionServer;
use crate::audit;
use crate::cluster::EventWriter;
use crate::controller::health::Health;
use crate::drivers::CallCounts;
use crate::process::health_state::HealthState;
use crate::process::leader::ElectionTask;
use crate::process::metrics::Metrics;
use crate::process::options::Options;
use crate::runtime::Context;
pub use background::RunError;
use background::{AdmissionTask, Background};
use futures::future::BoxFuture;
use kube::Client;
use std::future::Future;
use std::sync::Arc;
use workers::Workers;

/// The LBCF controller of one cluster.
pub struct Controller {
    context: Arc<Context>,
    events: EventWriter,
    counts: CallCounts,
    health: Arc<HealthState>,
    election_client: Client,
    admission: Option<AdmissionServer>,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller")
            .field("options", &self.context.options)
            .finish_non_exhaustive()
    }
}

impl Controller {
    /// A controller of the client's cluster. It does nothing until [`Controller::run`].
    #[must_use]
    pub fn new(client: Client, options: Options) -> Self {
        Self::with_counts(client, options, CallCounts::default())
    }

    /// A controller that adds its calls to `counts`, which may be those of an earlier one.
    #[must_use]
    pub fn with_counts(client: Client, options: Options, counts: CallCounts) -> Self {
        Self::with_metrics(client, options, counts, Metrics::new())
    }

    /// A controller that adds to the metrics of its client.
    pub(crate) fn with_metrics(
        client: Client,
        options: Options,
        counts: CallCounts,
        metrics: Metrics,
    ) -> Self {
        let (context, events) = Context::new(client.clone(), options, counts.clone(), metrics);
        Self {
            context: Arc::new(context),
            events,
            counts,
            health: Arc::default(),
            election_client: client,
            admission: None,
        }
    }

    /// Serves admission webhooks too, as soon as the index is complete, whether leader or not.
    #[must_use]
    pub fn with_admission(mut self, server: AdmissionServer) -> Self {
        self.health.expect_admission();
        self.admission = Some(server);
        self
    }

    /// Uses a client of its own for leader election, so that renewing the lease never waits for
    /// other requests.
    #[must_use]
    pub fn with_election_client(mut self, client: Client) -> Self {
        self.election_client = client;
        self
    }

    /// Liveness, readiness and metrics, while the controller runs and after.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::new(Arc::clone(&self.context), Arc::clone(&self.health))
    }

    /// Counts of webhook calls, by webhook. The controller goes on updating them while it runs.
    #[must_use]
    pub fn calls(&self) -> CallCounts {
        self.counts.clone()
    }

    /// Runs until `stop` completes, then finishes running reconciliations within
    /// [`Options::stop_timeout`] and releases the lease. With [`Options::leader_election`] it
    /// reconciles only while it leads, and until then keeps its index up to date. When it takes the
    /// lead it lists all objects again: watches do not notice that a cluster was restored from a
    /// backup. Dropping the future ends everything at once; the next controller finishes what
    /// was in progress.
    ///
    /// # Errors
    /// [`RunError`] if it ends before `stop`. If it lost the lease, running reconciliations are
    /// aborted, because another controller may have taken over; admission reviews are answered.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), RunError> {
        self.run_boxed(Box::pin(stop)).await
    }

    /// Boxed, so that it is compiled with this crate: the machine code of an `async fn` is generated in the
    /// crates that await it.
    fn run_boxed<'a>(self, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<(), RunError>> {
        Box::pin(self.run_until(stop))
    }

    async fn run_until(self, mut stop: BoxFuture<'_, ()>) -> Result<(), RunError> {
        let Self {
            context, health, ..
        } = self;
        let mut background = Background::start(&context, &health, self.events);
        // Nothing is decided on a part of the cluster's state.
        tokio::select! {
            () = &mut stop => return Ok(()),
            listed = background.list() => listed?,
        }
        // Without a complete index it would be unknown what uses a driver.
        let mut admission = AdmissionTask::start(self.admission, &context, &health);
        let result = async {
            // A leader has to be able to reconcile at once, so only a synced controller takes part.
            let config = context.options.leader_election.clone();
            let guard = context.guard.clone();
            let mut election = ElectionTask::start(self.election_client, config, guard)?;
            health.election_started(election.leadership());
            let ended = tokio::select! {
                () = &mut stop => Some(Ok(())),
                error = background.until_failed() => Some(Err(error)),
                error = admission.until_failed() => Some(Err(error)),
                leads = election.until_leader() => leads.map(|()| None)?,
            };
            let ended = match ended {
                // Nothing tells how long ago the cluster was restored.
                None if context.options.leader_election.is_some() => tokio::select! {
                    () = &mut stop => Some(Ok(())),
                    error = admission.until_failed() => Some(Err(error)),
                    lost = election.until_lost() => return Err(lost.into()),
                    // Fails where following the changes fails.
                    listed = background.list() => listed.err().map(Err),
                },
                ended => ended,
            };
            if let Some(result) = ended {
                election.resign().await;
                return result;
            }
            let mut workers = Workers::new(&context);
            let result = tokio::select! {
                () = &mut stop => Ok(()),
                error = background.until_failed() => Err(error),
                error = admission.until_failed() => Err(error),
                lost = election.until_lost() => return Err(lost.into()),
                never = workers.run() => match never {},
                never = audit::run(&context) => match never {},
            };
            health.stopping();
            tokio::select! {
                () = workers.finish() => {}
                lost = election.until_lost() => return Err(lost.into()),
            }
            election.resign().await;
            result
        };
        let result = result.await;
        // However it ends: API servers refuse what users apply if a review is cut off.
        admission.stop(context.options.stop_timeout).await;
        result
    }
}
