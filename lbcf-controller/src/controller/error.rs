//! The end of a controller that was not asked to stop.

use crate::admission::AdmissionError;
use crate::process::leader::{InvalidLeaderElection, LostLease};

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
