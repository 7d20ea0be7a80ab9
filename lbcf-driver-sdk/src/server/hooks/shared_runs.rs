//! The bookkeeping of operations, shared by calls and tasks, with the clock that it does not have
//! itself.

use super::progress::Listen;
use crate::server::reject::Answer;
use crate::server::runs::{Kept, RunId, Runs, Subject};
use prometheus::IntGauge;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much memory uncollected results may take together with the requests they belong to.
const KEPT_BYTES: usize = 64 << 20;

type Listened = Runs<Listen>;

pub(super) struct SharedRuns {
    runs: Mutex<Listened>,
    keep_results: Duration,
    kept: IntGauge,
}

/// The bookkeeping, for one at a time. Whoever is done leaves the right number of kept results.
pub(super) struct LockedRuns<'a> {
    runs: MutexGuard<'a, Listened>,
    kept: &'a IntGauge,
}

impl SharedRuns {
    pub(super) fn new(keep_results: Duration, kept: IntGauge) -> Self {
        Self {
            runs: Mutex::new(Runs::new(KEPT_BYTES)),
            keep_results,
            kept,
        }
    }

    pub(super) fn lock(&self) -> LockedRuns<'_> {
        LockedRuns {
            runs: self.runs.lock().unwrap_or_else(PoisonError::into_inner),
            kept: &self.kept,
        }
    }

    pub(super) fn finished(self: &Arc<Self>, subject: &Subject, id: RunId, result: Option<Answer>) {
        let kept = self.lock().finished(subject, id, result);
        self.expire_later(kept, subject, id);
    }

    /// A call no longer waits, and has no result.
    pub(super) fn left(self: &Arc<Self>, subject: &Subject, id: RunId, promised: bool) {
        let kept = self.lock().left(subject, id, promised);
        self.expire_later(kept, subject, id);
    }

    fn expire_later(self: &Arc<Self>, kept: Kept, subject: &Subject, id: RunId) {
        if kept == Kept::No {
            return;
        }
        if self.keep_results.is_zero() {
            self.lock().expire(subject, id);
            return;
        }
        // Without a runtime everything is about to end anyway.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (runs, subject) = (Arc::downgrade(self), subject.clone());
            let keep = self.keep_results;
            runtime.spawn(async move {
                tokio::time::sleep(keep).await;
                if let Some(runs) = runs.upgrade() {
                    runs.lock().expire(&subject, id);
                }
            });
        }
    }
}

impl Deref for LockedRuns<'_> {
    type Target = Listened;

    fn deref(&self) -> &Listened {
        &self.runs
    }
}

impl DerefMut for LockedRuns<'_> {
    fn deref_mut(&mut self) -> &mut Listened {
        &mut self.runs
    }
}

impl Drop for LockedRuns<'_> {
    fn drop(&mut self) {
        let kept = i64::try_from(self.runs.kept()).unwrap_or(i64::MAX);
        if self.kept.get() != kept {
            self.kept.set(kept);
        }
    }
}
