//! The state that a running controller records about itself.

use crate::process::leader::Leadership;
use crate::process::lock::Mutex;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use tokio::sync::watch;

#[derive(Debug, Default)]
pub(crate) struct HealthState {
    state: Mutex<State>,
    leadership: OnceLock<watch::Receiver<Leadership>>,
}

#[derive(Debug, Default)]
struct State {
    /// The kinds whose first list is complete.
    listed: BTreeSet<&'static str>,
    /// Why API servers cannot call the admission webhooks; none if they can, or admission is off.
    admission_problem: Option<String>,
    is_stopping: bool,
    /// The required task that ended.
    broken: Option<String>,
}

impl HealthState {
    /// The first list of a kind is complete.
    pub(crate) fn listed(&self, kind: &'static str) {
        self.state.lock().listed.insert(kind);
    }

    pub(crate) fn election_started(&self, leadership: watch::Receiver<Leadership>) {
        // The election starts once.
        let _ = self.leadership.set(leadership);
    }

    pub(crate) fn expect_admission(&self) {
        self.state.lock().admission_problem = Some("it is not served yet".to_owned());
    }

    /// Notes that API servers can call the admission webhooks, or why they cannot. Returns true if that
    /// differs from the last report.
    pub(crate) fn admission(&self, served: Result<(), String>) -> bool {
        let mut state = self.state.lock();
        let problem = served.err();
        let is_new = state.admission_problem != problem;
        state.admission_problem = problem;
        is_new
    }

    pub(crate) fn stopping(&self) {
        self.state.lock().is_stopping = true;
    }

    /// A required task ended.
    pub(crate) fn failed(&self, what: impl Into<String>) {
        self.state.lock().broken = Some(what.into());
    }

    pub(crate) fn alive(&self) -> Result<(), String> {
        self.state.lock().broken.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn ready(&self, kinds: usize) -> Result<(), String> {
        let state = self.state.lock();
        if let Some(broken) = &state.broken {
            return Err(broken.clone());
        }
        if state.is_stopping {
            return Err("the controller is stopping".into());
        }
        if state.listed.len() >= kinds {
            let problem = state.admission_problem.as_ref();
            return problem.map_or(Ok(()), |problem| Err(format!("admission: {problem}")));
        }
        let listed = if state.listed.is_empty() {
            "none".to_owned()
        } else {
            Vec::from_iter(state.listed.iter().copied()).join(", ")
        };
        Err(format!(
            "the index is not complete: {} of {kinds} kinds are listed ({listed})",
            state.listed.len()
        ))
    }

    pub(crate) fn leads(&self) -> bool {
        self.leadership
            .get()
            .is_some_and(|leadership| leadership.borrow().is_leader())
    }
}
