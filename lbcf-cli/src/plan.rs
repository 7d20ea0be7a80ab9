//! `lbcf plan`: what applying manifests would do, webhook by webhook, without doing it.
//!
//! It is rehearsed: the objects that the user may read are copied into an embedded cluster, in which the controller runs
//! with a stand-in for the drivers. There the manifests are applied. So what is planned follows from the controller's own
//! decisions, and nothing is written to the user's cluster.

mod args;
mod copy;
mod rehearsal;
mod stand_in;
mod text;

pub(crate) use args::{PlanArgs, run};
pub use rehearsal::rehearse;

use local_cluster::RequestCounts;
use serde_json::Value;

/// The result of a rehearsal.
#[derive(Debug, Default)]
pub struct Plan {
    /// The webhook calls, in the order of their responses.
    pub calls: Vec<Call>,
    /// The controller's writes to the API server, without events.
    pub writes: RequestCounts,
    /// Assumptions, and what is missing.
    pub notes: Vec<String>,
}

/// A call of a webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its name, such as `ensureBackend`.
    pub webhook: String,
    /// The body of the request.
    pub request: Value,
    /// The body of the response: the driver's, or an assumed one.
    pub response: Value,
}
