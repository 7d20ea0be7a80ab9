//! The jobs by key: which call submits, polls or collects, and which jobs are removed when.
//!
//! This is the bookkeeping alone, without tasks and clock. [`Jobs`](super::Jobs) runs at most one
//! step at a time for a key (find and submit, poll, cancel) and reports when a task was accepted and
//! how the step ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A job without a call for this long may be removed for a new one.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) keep: Duration,
    pub(super) retain: RetainResults,
    pub(super) limit: usize,
    pub(super) step_within: Duration,
}

/// The fate of a result after a call got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetainResults {
    ForAWhile,
    UntilCollected,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(600),
            retain: RetainResults::ForAWhile,
            limit: 1000,
            step_within: Duration::from_secs(300),
        }
    }
}

/// Increases with each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepId(u64);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum JobStep<R, T> {
    /// Find a task or submit one, then poll it.
    Submit(Arc<R>),
    Poll(Arc<T>),
    FindAndCancel,
    Cancel(Arc<T>),
}

/// The way to serve a call that runs a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RunDecision<R, T, O, S> {
    Collect(O),
    /// Run this step, for the call's own job or for an earlier one with the same key.
    Start {
        id: StepId,
        step: JobStep<R, T>,
        is_own: bool,
    },
    /// Wait for the running step.
    Join {
        id: StepId,
        sender: S,
        is_own: bool,
    },
    /// There are too many jobs.
    Full,
}

/// The way to serve a call that cancels a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CancelDecision<R, T, O, S> {
    /// The job has ended with this result.
    Created(O),
    Start {
        id: StepId,
        step: JobStep<R, T>,
    },
    /// Wait for the running step, then decide again.
    Wait(S),
    /// There are too many jobs.
    Full,
}

#[derive(Debug)]
pub(super) enum StepEnd<O> {
    Done(O),
    /// The task ended without a result, or there is none.
    NoResult,
    /// The task continues, as far as is known. A job whose task was not accepted has none.
    Unfinished,
}

/// `S` publishes the outcome of a step to the calls that wait for it.
#[derive(Debug)]
pub(super) struct JobStore<R, T, O, S> {
    jobs: HashMap<String, JobEntry<R, T, O, S>>,
    steps: u64,
}

#[derive(Debug)]
struct JobEntry<R, T, O, S> {
    /// `None` for a task that a cancellation found.
    request: Option<Arc<R>>,
    phase: Phase<T, O, S>,
    last_call: Instant,
}

#[derive(Debug)]
enum Phase<T, O, S> {
    Submitting(StepId, S),
    /// The task runs, as far as is known, and no step does.
    Accepted(Arc<T>),
    /// A step polls or cancels the task.
    Polling(Arc<T>, StepId, S),
    Done {
        output: O,
        found_out_by: StepId,
        until: Instant,
    },
}

impl<R, T, O, S> Default for JobStore<R, T, O, S> {
    fn default() -> Self {
        Self {
            jobs: HashMap::new(),
            steps: 0,
        }
    }
}

impl<R: PartialEq, T, O: Clone, S: Clone> JobStore<R, T, O, S> {
    /// A call runs a job. A step that it starts publishes its outcome to `sender`.
    pub(super) fn run(
        &mut self,
        key: &str,
        request: &Arc<R>,
        now: Instant,
        settings: &Settings,
        sender: &S,
    ) -> RunDecision<R, T, O, S> {
        self.drop_if_expired(key, now);
        let id = StepId(self.steps + 1);
        if let Some(entry) = self.jobs.get_mut(key) {
            entry.last_call = now;
            // A task that a cancellation found belongs to the first request.
            let is_own = **entry.request.get_or_insert_with(|| Arc::clone(request)) == **request;
            match &entry.phase {
                Phase::Submitting(id, sender) | Phase::Polling(_, id, sender) => {
                    let (id, sender) = (*id, sender.clone());
                    return RunDecision::Join { id, sender, is_own };
                }
                Phase::Accepted(task) => {
                    let task = Arc::clone(task);
                    entry.phase = Phase::Polling(Arc::clone(&task), id, sender.clone());
                    self.steps += 1;
                    let step = JobStep::Poll(task);
                    return RunDecision::Start { id, step, is_own };
                }
                Phase::Done { output, .. } if is_own => {
                    let output = output.clone();
                    if settings.retain == RetainResults::UntilCollected {
                        self.jobs.remove(key);
                    }
                    return RunDecision::Collect(output);
                }
                // The result of another request, which this one makes obsolete.
                Phase::Done { .. } => {
                    self.jobs.remove(key);
                }
            }
        }
        if !self.make_room(now, settings) {
            return RunDecision::Full;
        }
        self.start(key, Some(Arc::clone(request)), now, sender);
        RunDecision::Start {
            id,
            step: JobStep::Submit(Arc::clone(request)),
            is_own: true,
        }
    }

    /// A call cancels a job. A step that it starts publishes its outcome to `sender`.
    pub(super) fn cancel(
        &mut self,
        key: &str,
        now: Instant,
        settings: &Settings,
        sender: &S,
    ) -> CancelDecision<R, T, O, S> {
        self.drop_if_expired(key, now);
        let id = StepId(self.steps + 1);
        if let Some(entry) = self.jobs.get_mut(key) {
            entry.last_call = now;
            match &mut entry.phase {
                Phase::Submitting(_, sender) | Phase::Polling(_, _, sender) => {
                    return CancelDecision::Wait(sender.clone());
                }
                Phase::Accepted(task) => {
                    let task = Arc::clone(task);
                    entry.phase = Phase::Polling(Arc::clone(&task), id, sender.clone());
                    self.steps += 1;
                    let step = JobStep::Cancel(task);
                    return CancelDecision::Start { id, step };
                }
                // The caller deletes it: if that fails, the next call needs the result again.
                Phase::Done { output, until, .. } => {
                    *until = now + settings.keep;
                    return CancelDecision::Created(output.clone());
                }
            }
        }
        if !self.make_room(now, settings) {
            return CancelDecision::Full;
        }
        self.start(key, None, now, sender);
        let step = JobStep::FindAndCancel;
        CancelDecision::Start { id, step }
    }

    /// A step found or submitted the task.
    pub(super) fn accepted(&mut self, key: &str, id: StepId, task: &Arc<T>) {
        if let Some(entry) = self.jobs.get_mut(key)
            && let Phase::Submitting(submitting, sender) = &entry.phase
            && *submitting == id
        {
            entry.phase = Phase::Polling(Arc::clone(task), id, sender.clone());
        }
    }

    /// True if this step's job has a task.
    pub(super) fn has_task(&self, key: &str, id: StepId) -> bool {
        let phase = self.jobs.get(key).map(|entry| &entry.phase);
        matches!(phase, Some(Phase::Polling(_, polling, _)) if *polling == id)
    }

    pub(super) fn ended(
        &mut self,
        key: &str,
        id: StepId,
        end: StepEnd<O>,
        now: Instant,
        settings: &Settings,
    ) {
        let Some(entry) = self.jobs.get_mut(key) else {
            return;
        };
        let task = match &entry.phase {
            Phase::Submitting(step, _) if *step == id => None,
            Phase::Polling(task, step, _) if *step == id => Some(Arc::clone(task)),
            _ => return,
        };
        match (end, task) {
            (StepEnd::Done(output), _) => {
                entry.phase = Phase::Done {
                    output,
                    found_out_by: id,
                    until: now + settings.keep,
                };
            }
            (StepEnd::Unfinished, Some(task)) => entry.phase = Phase::Accepted(task),
            (StepEnd::NoResult, _) | (StepEnd::Unfinished, None) => {
                self.jobs.remove(key);
            }
        }
    }

    /// A call that waited for this step got the result.
    pub(super) fn collected(&mut self, key: &str, id: StepId, settings: &Settings) {
        if settings.retain == RetainResults::UntilCollected
            && let Some(entry) = self.jobs.get(key)
            && let Phase::Done { found_out_by, .. } = entry.phase
            && found_out_by == id
        {
            self.jobs.remove(key);
        }
    }

    pub(super) fn forget_results(&mut self, is_gone: impl Fn(&str, &O) -> bool) {
        self.jobs.retain(|key, entry| match &entry.phase {
            Phase::Done { output, .. } => !is_gone(key, output),
            _ => true,
        });
    }

    pub(super) fn running(&self) -> usize {
        let phases = self.jobs.values().map(|entry| &entry.phase);
        phases
            .filter(|phase| !matches!(phase, Phase::Done { .. }))
            .count()
    }

    fn start(&mut self, key: &str, request: Option<Arc<R>>, now: Instant, sender: &S) {
        self.steps += 1;
        let entry = JobEntry {
            request,
            phase: Phase::Submitting(StepId(self.steps), sender.clone()),
            last_call: now,
        };
        self.jobs.insert(key.to_owned(), entry);
    }

    fn drop_if_expired(&mut self, key: &str, now: Instant) {
        if self
            .jobs
            .get(key)
            .is_some_and(|entry| entry.is_expired(now))
        {
            self.jobs.remove(key);
        }
    }

    /// Removes jobs that may be removed, down to the limit; whether one more job fits.
    fn make_room(&mut self, now: Instant, settings: &Settings) -> bool {
        self.jobs.retain(|_, entry| !entry.is_expired(now));
        while self.jobs.len() >= settings.limit {
            let evictable = self.jobs.iter().filter_map(|(key, entry)| {
                let since = entry.evictable_since(now)?;
                Some((since, key.clone()))
            });
            let Some((_, key)) = evictable.min() else {
                return false;
            };
            self.jobs.remove(&key);
        }
        true
    }
}

/// In the order of eviction.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Evictable {
    Done(Instant),
    Abandoned(Instant),
}

impl<R, T, O, S> JobEntry<R, T, O, S> {
    fn is_expired(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Done { until, .. } if until <= now)
    }

    fn evictable_since(&self, now: Instant) -> Option<Evictable> {
        match self.phase {
            Phase::Done { until, .. } => Some(Evictable::Done(until)),
            Phase::Accepted(_) if now.duration_since(self.last_call) >= ABANDONED => {
                Some(Evictable::Abandoned(self.last_call))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
