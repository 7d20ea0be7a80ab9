//! Liveness, readiness and metrics over HTTP (b146).
//!
//! The controller records its state in [`HealthState`]; [`Health`] evaluates it for [`HealthServer`].

mod server;

pub use server::HealthServer;

use crate::api::LoadBalancerDriver;
use crate::cluster::WATCHED_KINDS;
use crate::index::Lookup;
use crate::process::health_state::HealthState;
use crate::process::metrics::Snapshot;
use crate::runtime::Context;
use std::fmt;
use std::sync::Arc;

/// The health of a controller. Clones refer to the same controller.
#[derive(Clone)]
pub struct Health {
    context: Arc<Context>,
    state: Arc<HealthState>,
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Health {
    pub(crate) const fn new(context: Arc<Context>, state: Arc<HealthState>) -> Self {
        Self { context, state }
    }

    /// Reports whether all required tasks are running.
    ///
    /// # Errors
    /// The task that ended.
    pub fn alive(&self) -> Result<(), String> {
        self.state.alive()
    }

    /// Reports whether the index is complete, so that the controller reconciles or could become the
    /// leader, and whether API servers can call its admission webhooks, if it serves them (d49).
    ///
    /// # Errors
    /// What is missing.
    pub fn ready(&self) -> Result<(), String> {
        self.state.ready(WATCHED_KINDS)
    }

    /// The current metrics in the Prometheus text format.
    ///
    /// # Errors
    /// If they cannot be encoded, which would be a defect.
    pub fn metrics(&self) -> Result<String, String> {
        let unregistered = {
            let index = self.context.index();
            // A call that was in flight when its driver was deleted may have started its series again.
            self.context
                .drivers
                .retain(|driver| index.get::<LoadBalancerDriver>(driver) != Lookup::Missing);
            index.records.unregistered
        };
        let snapshot = Snapshot {
            queue: self.context.queue.sizes(),
            unregistered,
            leads: self.state.leads(),
        };
        self.context
            .metrics
            .render(&snapshot)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
