//! An answer about pods that are not ready, for as long as it stands. Nothing of it is stored: after
//! a start the driver is asked anew.

use super::Judgement;
use crate::index::PodView;
use std::sync::Arc;
use tokio::time::Instant;

/// An answer, and when it was given.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(super) judgement: Arc<Judgement>,
    pub(super) at: Instant,
    /// When it is asked again though no further pod stopped being ready.
    pub(super) due: Instant,
    /// How many questions in a row went without an answer.
    pub(super) failures: u32,
    /// Who was asked; none where the driver was not there.
    pub(super) driver: Option<DriverId>,
}

/// A driver's uid and generation: another one may answer where this one did not.
pub(super) type DriverId = (Option<String>, Option<i64>);

impl Answer {
    /// What was said.
    pub(crate) fn judgement(&self) -> Arc<Judgement> {
        Arc::clone(&self.judgement)
    }

    /// Forgets what was said of pods that are ready again: the next time that they are not is
    /// another matter.
    pub(crate) fn forget_available<'a>(&mut self, pods: impl IntoIterator<Item = &'a PodView>) {
        let available = pods.into_iter().filter(|pod| pod.is_available());
        for pod in available
            .filter(|pod| self.judgement.is_about(pod))
            .collect::<Vec<_>>()
        {
            Arc::make_mut(&mut self.judgement).forget(pod);
        }
    }
}
