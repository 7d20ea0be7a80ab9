//! A call that waits for an operation. The connection may drop it at any time.

use super::NotYet;
use super::progress::{Listen, Progress};
use super::shared_runs::SharedRuns;
use crate::server::reject::{Answer, panicked};
use crate::server::runs::{RunId, Subject};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

pub(in crate::server) struct Waiting {
    runs: Arc<SharedRuns>,
    subject: Subject,
    id: RunId,
    listen: Listen,
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
    pub(super) const fn new(
        runs: Arc<SharedRuns>,
        subject: Subject,
        id: RunId,
        listen: Listen,
    ) -> Self {
        Self {
            runs,
            subject,
            id,
            listen,
            end: End::HungUp,
        }
    }

    /// The result, if it is there by the deadline.
    pub(in crate::server) async fn wait(
        mut self,
        webhook: &str,
        deadline: Instant,
    ) -> Result<Answer, NotYet> {
        let progress = match timeout_at(deadline, self.listen.end()).await {
            Ok(end) => end,
            Err(_) => self.listen.now(),
        };
        let not_yet = match progress {
            Progress::Over(answer) => {
                self.end = End::GotResult;
                return Ok(answer);
            }
            Progress::Lost => return Ok(panicked(webhook)),
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
