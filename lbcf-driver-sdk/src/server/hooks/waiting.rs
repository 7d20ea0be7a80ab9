//! A call that waits for an operation. The connection may drop it at any time.

use super::shared_runs::SharedRuns;
use super::{NotYet, Progress};
use crate::server::reject::{Answer, panicked};
use crate::server::runs::{RunId, Subject};
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

pub(super) struct Waiting {
    runs: Arc<SharedRuns>,
    subject: Subject,
    id: RunId,
    end: End,
}

/// How waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the result.
    GotResult,
    /// With `Running`, on which the caller comes again.
    Promised,
    /// The caller is gone.
    HungUp,
}

impl Waiting {
    pub(super) const fn new(runs: Arc<SharedRuns>, subject: Subject, id: RunId) -> Self {
        Self {
            runs,
            subject,
            id,
            end: End::HungUp,
        }
    }

    /// The result, if it is there by the deadline.
    pub(super) async fn wait(
        mut self,
        webhook: &str,
        mut listen: watch::Receiver<Progress>,
        deadline: Instant,
    ) -> Result<Answer, NotYet> {
        let over = listen.wait_for(|progress| matches!(progress, Progress::Over(_)));
        let in_time = timeout_at(deadline, over)
            .await
            .map(|over| over.map(|progress| progress.clone()));
        let progress = match in_time {
            Ok(Ok(progress)) => progress,
            // The runtime is shutting down and has dropped the task.
            Ok(Err(_)) => return Ok(panicked(webhook)),
            Err(_) => listen.borrow().clone(),
        };
        let not_yet = match progress {
            Progress::Over(answer) => {
                self.end = End::GotResult;
                return Ok(answer);
            }
            Progress::Running => NotYet::Running,
            Progress::NoPlace => NotYet::NoPlace,
            Progress::Queued => NotYet::Queued,
        };
        self.end = End::Promised;
        Err(not_yet)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        match self.end {
            End::GotResult => self.runs.lock().got(&self.subject, self.id),
            End::Promised => self.runs.left(&self.subject, self.id, true),
            End::HungUp => self.runs.left(&self.subject, self.id, false),
        }
    }
}
