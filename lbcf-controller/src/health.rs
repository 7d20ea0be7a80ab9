//! How a controller is, for those who ask over HTTP: alive, ready, and its metrics (b146).
//!
//! [`vitals`] is what the controller notes of itself; [`Health`] answers from it; [`HealthServer`]
//! serves the answers.

mod server;
mod vitals;

pub use server::HealthServer;
pub(crate) use vitals::Vitals;

use crate::cluster::Watches;
use crate::context::Context;
use crate::index::Lookup;
use crate::metrics::Snapshot;
use std::fmt;
use std::sync::Arc;

/// How a controller is. Clones ask the same controller.
#[derive(Clone)]
pub struct Health {
    context: Arc<Context>,
    vitals: Arc<Vitals>,
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("vitals", &self.vitals)
            .finish_non_exhaustive()
    }
}

impl Health {
    pub(crate) const fn new(context: Arc<Context>, vitals: Arc<Vitals>) -> Self {
        Self { context, vitals }
    }

    /// Whether everything that is needed still runs.
    ///
    /// # Errors
    /// What broke.
    pub fn alive(&self) -> Result<(), String> {
        self.vitals.alive()
    }

    /// Whether the cluster is known, so that it works or could take over the work.
    ///
    /// # Errors
    /// What is still missing.
    pub fn ready(&self) -> Result<(), String> {
        self.vitals.ready(Watches::KINDS)
    }

    /// The metrics as they are now, in Prometheus' text format.
    ///
    /// # Errors
    /// A defect.
    pub fn metrics(&self) -> Result<String, String> {
        let unregistered = {
            let index = self.context.index();
            // A call that was on its way when its driver went may have begun its series anew.
            self.context
                .drivers
                .forget_unless(|driver| index.get_driver(driver) != Lookup::Missing);
            index.unregistered_records()
        };
        let snapshot = Snapshot {
            queue: self.context.queue.sizes(),
            unregistered,
            leads: self.vitals.leads(),
        };
        self.context
            .metrics
            .render(&snapshot)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
