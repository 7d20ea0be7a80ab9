//! What is to be done to pods, and when.

use std::collections::{BTreeMap, HashMap};

use tokio::time::Instant;

use crate::agents::phase::Step;

/// A step to be taken at its time.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) step: Step,
}

/// Steps in time.
#[derive(Debug, Default)]
pub(super) struct Queue {
    due: BTreeMap<(Instant, u64), Task>,
    /// Where in `due` a step of a pod is.
    waiting: HashMap<(String, Step), (Instant, u64)>,
    sequence: u64,
}

impl Queue {
    /// Plans a step; one that is planned already can only come earlier.
    pub(super) fn plan(&mut self, at: Instant, task: Task) {
        let key = (task.uid.clone(), task.step);
        if let Some(planned) = self.waiting.get(&key) {
            if planned.0 <= at {
                return;
            }
            self.due.remove(planned);
        }
        self.sequence += 1;
        self.waiting.insert(key, (at, self.sequence));
        self.due.insert((at, self.sequence), task);
    }

    /// Takes the next step whose time has come.
    pub(super) fn take(&mut self, now: Instant) -> Option<Task> {
        let entry = self
            .due
            .first_entry()
            .filter(|entry| entry.key().0 <= now)?;
        let task = entry.remove();
        self.waiting.remove(&(task.uid.clone(), task.step));
        Some(task)
    }

    /// When the next step's time comes.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.keys().next().map(|(at, _)| *at)
    }
}
