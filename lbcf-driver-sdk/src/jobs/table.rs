//! Which call submits, which one asks, which one collects, and what is forgotten when.
//!
//! This is the bookkeeping alone: no tasks, no clock. Whoever acts on it does one step at a time
//! for a key (find and submit, poll, cancel), tells when a task was accepted and how a step ended,
//! and lets the others listen to it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// After how long without a call a job may be given up to make room.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) keep: Duration,
    pub(super) kept: Keep,
    pub(super) limit: usize,
    pub(super) step_within: Duration,
}

/// Whether a result is kept after a call got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    ItsTime,
    UntilCollected,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(600),
            kept: Keep::ItsTime,
            limit: 1000,
            step_within: Duration::from_secs(300),
        }
    }
}

/// Numbers steps in the order in which they were begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepId(u64);

/// What to do for a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<R, T> {
    /// Look for a task, submit one where there is none, and ask how it stands.
    Submit(Arc<R>),
    /// Ask how the task stands.
    Poll(Arc<T>),
    /// Look for a task, and end it.
    FindAndCancel,
    /// End the task.
    Cancel(Arc<T>),
}

/// What to do with a call that wants a job done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Call<R, T, O, L> {
    /// Answer with this result.
    Collect(O),
    /// Do this, for the call's own job or for an earlier one that stands in its way.
    Start {
        id: StepId,
        step: Step<R, T>,
        mine: bool,
    },
    /// Wait for what is being done.
    Join { id: StepId, listen: L, mine: bool },
    /// There are too many jobs.
    Full,
}

/// What to do with a call that wants a job ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cancel<R, T, O, L> {
    /// It is over, and made this.
    Made(O),
    /// Do this.
    Start { id: StepId, step: Step<R, T> },
    /// Wait for what is being done, then ask again.
    Wait(L),
    /// There are too many jobs.
    Full,
}

/// How a step ended.
#[derive(Debug)]
pub(super) enum End<O> {
    /// The task is over and made this.
    Done(O),
    /// The task is over, or there is none.
    Over,
    /// The task goes on, as far as is known. A task that was never accepted is none.
    NotYet,
}

/// The jobs that are known, by key. `L` is how to listen to a step.
#[derive(Debug)]
pub(super) struct Table<R, T, O, L> {
    jobs: HashMap<String, Known<R, T, O, L>>,
    steps: u64,
}

#[derive(Debug)]
struct Known<R, T, O, L> {
    /// None where a task was found that nobody has asked for yet, except to end it.
    request: Option<Arc<R>>,
    phase: Phase<T, O, L>,
    last_call: Instant,
}

#[derive(Debug)]
enum Phase<T, O, L> {
    /// A step looks for the task or submits it.
    Submitting(StepId, L),
    /// The task is at work, as far as is known, and nobody asks right now.
    Accepted(Arc<T>),
    /// A step asks.
    Asking(Arc<T>, StepId, L),
    /// This came of it.
    Done {
        output: O,
        found_out_by: StepId,
        until: Instant,
    },
}

impl<R, T, O, L> Default for Table<R, T, O, L> {
    fn default() -> Self {
        Self {
            jobs: HashMap::new(),
            steps: 0,
        }
    }
}

impl<R: PartialEq, T, O: Clone, L: Clone> Table<R, T, O, L> {
    /// A call wants a job done. `listen` is how others listen to the step if it begins one.
    pub(super) fn call(
        &mut self,
        key: &str,
        request: &Arc<R>,
        now: Instant,
        settings: &Settings,
        listen: &L,
    ) -> Call<R, T, O, L> {
        self.drop_if_expired(key, now);
        let id = StepId(self.steps + 1);
        if let Some(known) = self.jobs.get_mut(key) {
            known.last_call = now;
            // What was found by its key is taken for this one, as it would be if looked for now.
            let mine = **known.request.get_or_insert_with(|| Arc::clone(request)) == **request;
            match &known.phase {
                Phase::Submitting(id, listen) | Phase::Asking(_, id, listen) => {
                    let (id, listen) = (*id, listen.clone());
                    return Call::Join { id, listen, mine };
                }
                Phase::Accepted(task) => {
                    let task = Arc::clone(task);
                    known.phase = Phase::Asking(Arc::clone(&task), id, listen.clone());
                    self.steps += 1;
                    let step = Step::Poll(task);
                    return Call::Start { id, step, mine };
                }
                Phase::Done { output, .. } if mine => {
                    let output = output.clone();
                    if settings.kept == Keep::UntilCollected {
                        self.jobs.remove(key);
                    }
                    return Call::Collect(output);
                }
                // Another request: the result is no answer to it, nor to what comes after it.
                Phase::Done { .. } => {
                    self.jobs.remove(key);
                }
            }
        }
        if !self.make_room(now, settings) {
            return Call::Full;
        }
        self.begin(key, Some(Arc::clone(request)), now, listen);
        Call::Start {
            id,
            step: Step::Submit(Arc::clone(request)),
            mine: true,
        }
    }

    /// A call wants a job ended. `listen` is how others listen to the step if it begins one.
    pub(super) fn cancel(
        &mut self,
        key: &str,
        now: Instant,
        settings: &Settings,
        listen: &L,
    ) -> Cancel<R, T, O, L> {
        self.drop_if_expired(key, now);
        let id = StepId(self.steps + 1);
        if let Some(known) = self.jobs.get_mut(key) {
            known.last_call = now;
            match &mut known.phase {
                Phase::Submitting(_, listen) | Phase::Asking(_, _, listen) => {
                    return Cancel::Wait(listen.clone());
                }
                Phase::Accepted(task) => {
                    let task = Arc::clone(task);
                    known.phase = Phase::Asking(Arc::clone(&task), id, listen.clone());
                    self.steps += 1;
                    let step = Step::Cancel(task);
                    return Cancel::Start { id, step };
                }
                // Somebody is about to delete it: if that fails, it has to be found again.
                Phase::Done { output, until, .. } => {
                    *until = now + settings.keep;
                    return Cancel::Made(output.clone());
                }
            }
        }
        if !self.make_room(now, settings) {
            return Cancel::Full;
        }
        self.begin(key, None, now, listen);
        let step = Step::FindAndCancel;
        Cancel::Start { id, step }
    }

    /// A step has found or submitted the task.
    pub(super) fn accepted(&mut self, key: &str, id: StepId, task: &Arc<T>) {
        if let Some(known) = self.jobs.get_mut(key)
            && let Phase::Submitting(submitting, listen) = &known.phase
            && *submitting == id
        {
            known.phase = Phase::Asking(Arc::clone(task), id, listen.clone());
        }
    }

    /// Whether the job that this step is for has a task.
    pub(super) fn has_task(&self, key: &str, id: StepId) -> bool {
        let phase = self.jobs.get(key).map(|known| &known.phase);
        matches!(phase, Some(Phase::Asking(_, asking, _)) if *asking == id)
    }

    /// A step ended.
    pub(super) fn ended(
        &mut self,
        key: &str,
        id: StepId,
        end: End<O>,
        now: Instant,
        settings: &Settings,
    ) {
        let Some(known) = self.jobs.get_mut(key) else {
            return;
        };
        let task = match &known.phase {
            Phase::Submitting(step, _) if *step == id => None,
            Phase::Asking(task, step, _) if *step == id => Some(Arc::clone(task)),
            _ => return,
        };
        match (end, task) {
            (End::Done(output), _) => {
                known.phase = Phase::Done {
                    output,
                    found_out_by: id,
                    until: now + settings.keep,
                };
            }
            (End::NotYet, Some(task)) => known.phase = Phase::Accepted(task),
            (End::Over, _) | (End::NotYet, None) => {
                self.jobs.remove(key);
            }
        }
    }

    /// A call that waited for this step got the job's result.
    pub(super) fn collected(&mut self, key: &str, id: StepId, settings: &Settings) {
        if settings.kept == Keep::UntilCollected
            && let Some(known) = self.jobs.get(key)
            && let Phase::Done { found_out_by, .. } = known.phase
            && found_out_by == id
        {
            self.jobs.remove(key);
        }
    }

    /// Forgets the results that `is_gone` knows by key or value.
    pub(super) fn forget_results(&mut self, is_gone: impl Fn(&str, &O) -> bool) {
        self.jobs.retain(|key, known| match &known.phase {
            Phase::Done { output, .. } => !is_gone(key, output),
            _ => true,
        });
    }

    /// How many jobs are not over.
    pub(super) fn at_work(&self) -> usize {
        let phases = self.jobs.values().map(|known| &known.phase);
        phases
            .filter(|phase| !matches!(phase, Phase::Done { .. }))
            .count()
    }

    fn begin(&mut self, key: &str, request: Option<Arc<R>>, now: Instant, listen: &L) {
        self.steps += 1;
        let known = Known {
            request,
            phase: Phase::Submitting(StepId(self.steps), listen.clone()),
            last_call: now,
        };
        self.jobs.insert(key.to_owned(), known);
    }

    fn drop_if_expired(&mut self, key: &str, now: Instant) {
        if self.jobs.get(key).is_some_and(|known| known.expired(now)) {
            self.jobs.remove(key);
        }
    }

    /// Whether there is room for one more job, now that what can go has gone.
    fn make_room(&mut self, now: Instant, settings: &Settings) -> bool {
        self.jobs.retain(|_, known| !known.expired(now));
        while self.jobs.len() >= settings.limit {
            let expendable = self.jobs.iter().filter_map(|(key, known)| {
                let since = known.expendable_since(now)?;
                Some((since, key.clone()))
            });
            let Some((_, key)) = expendable.min() else {
                return false;
            };
            self.jobs.remove(&key);
        }
        true
    }
}

/// In which order jobs go when there are too many.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Expendable {
    Done(Instant),
    Abandoned(Instant),
}

impl<R, T, O, L> Known<R, T, O, L> {
    fn expired(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Done { until, .. } if until <= now)
    }

    fn expendable_since(&self, now: Instant) -> Option<Expendable> {
        match self.phase {
            Phase::Done { until, .. } => Some(Expendable::Done(until)),
            Phase::Accepted(_) if now.duration_since(self.last_call) >= ABANDONED => {
                Some(Expendable::Abandoned(self.last_call))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
