//! Reports about the object, or the part of one, that a request is for.

use crate::api::{Condition, ObjectKey};
use crate::cluster::{EventType, Regarding, Wait, WaitEvent};
use crate::index::RequestKey;
use crate::runtime::context::Context;
use crate::runtime::operation::Operand;
use crate::runtime::outcome::Action;
use std::time::Duration;

pub(crate) struct Reporter<'a> {
    pub(crate) context: &'a Context,
    pub(crate) key: RequestKey,
    pub(crate) regarding: Regarding,
}

impl Reporter<'_> {
    /// The object of a call that the request repeats until it succeeds.
    pub(crate) const fn operand<'a>(&'a self, conditions: &'a [Condition]) -> Operand<'a> {
        Operand {
            key: Some(&self.key),
            regarding: &self.regarding,
            conditions,
        }
    }

    pub(crate) fn event(&self, event_type: EventType, reason: &str, message: &str) {
        let recorder = &self.context.recorder;
        recorder.record_change(&self.regarding, event_type, reason, message);
    }

    /// Begins a wait, unless the object waits for the same already; returns for how long it has.
    pub(crate) fn begin_wait(&self, reason: &'static str) -> Duration {
        let memory = &self.context.memory;
        memory.begin_wait(&self.key, reason, None).lasted
    }

    /// Ends the object's wait: the next one is reported by an event, also if it is for the same.
    pub(crate) fn end_wait(&self) {
        self.context.end_wait(&self.key, &self.regarding);
    }

    /// The rest of the moment that a wait has to last before it is reported, as most do not.
    pub(crate) fn unreported(&self, wait: &Wait) -> Option<Duration> {
        let lasted = self.begin_wait(wait.reason);
        let left = self.context.options.status_interval.saturating_sub(lasted);
        (!left.is_zero()).then_some(left)
    }

    /// Records the event about a wait; returns when to do so again.
    pub(crate) fn wait_event(&self, wait: &Wait) -> Action {
        let repeat = self.context.recorder.record_wait(&self.regarding, wait);
        repeat.map_or(Action::AwaitChange, Action::RequeueAfter)
    }

    /// The wait for a driver that cannot be used. Its removal, and a new one, enqueue the request.
    pub(crate) fn driver_wait(
        &self,
        (field, driver): (&str, &ObjectKey),
        reason: &'static str,
        problem: &str,
    ) -> Wait {
        self.begin_wait(reason);
        let message = format!("{field}: LoadBalancerDriver {driver} {problem}");
        Wait::new(reason, message, WaitEvent::Problem)
    }
}
