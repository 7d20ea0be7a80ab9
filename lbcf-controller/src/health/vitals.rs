//! What a controller notes of itself while it runs.

use crate::leader::Leadership;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::watch;

/// What a controller notes of itself while it runs.
#[derive(Debug, Default)]
pub(crate) struct Vitals {
    state: Mutex<State>,
    leadership: OnceLock<watch::Receiver<Leadership>>,
}

#[derive(Debug, Default)]
struct State {
    /// The kinds whose watch has listed everything once.
    listed: BTreeSet<&'static str>,
    /// Whether admission is to be served and cannot be yet.
    awaits_admission: bool,
    is_stopping: bool,
    /// What broke that cannot be done without.
    broken: Option<String>,
}

impl Vitals {
    /// A kind's watch has listed everything.
    pub(crate) fn listed(&self, kind: &'static str) {
        self.lock().listed.insert(kind);
    }

    /// The election has begun.
    pub(crate) fn stands(&self, leadership: watch::Receiver<Leadership>) {
        // A controller stands once.
        let _ = self.leadership.set(leadership);
    }

    /// Admission is to be served.
    pub(crate) fn awaits_admission(&self) {
        self.lock().awaits_admission = true;
    }

    /// Admission is served.
    pub(crate) fn admits(&self) {
        self.lock().awaits_admission = false;
    }

    /// No more work is taken.
    pub(crate) fn stops(&self) {
        self.lock().is_stopping = true;
    }

    /// Something broke that cannot be done without.
    pub(crate) fn broke(&self, what: impl Into<String>) {
        self.lock().broken = Some(what.into());
    }

    pub(super) fn alive(&self) -> Result<(), String> {
        self.lock().broken.clone().map_or(Ok(()), Err)
    }

    pub(super) fn ready(&self, kinds: usize) -> Result<(), String> {
        let state = self.lock();
        if let Some(broken) = &state.broken {
            return Err(broken.clone());
        }
        if state.is_stopping {
            return Err("the controller is stopping".into());
        }
        if state.listed.len() >= kinds {
            return if state.awaits_admission {
                Err("admission is not served yet".into())
            } else {
                Ok(())
            };
        }
        let listed = if state.listed.is_empty() {
            "none".to_owned()
        } else {
            Vec::from_iter(state.listed.iter().copied()).join(", ")
        };
        Err(format!(
            "the cluster is not known yet: {} of {kinds} kinds are listed ({listed})",
            state.listed.len()
        ))
    }

    pub(super) fn leads(&self) -> bool {
        self.leadership
            .get()
            .is_some_and(|leadership| leadership.borrow().is_leader())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
