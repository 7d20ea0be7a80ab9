//! When the status of an owner of backends is written, and when an event reports that it waits (d44).

use super::counts::OwnerView;
use super::taken;
use crate::api::{BackendOwner, reasons};
use crate::cluster::{Regarding, Wait, WaitEvent};
use crate::index::{Index, Owner, RequestKey};
use crate::process::error_text::in_full;
use crate::runtime::{Action, Context, Error};
use std::time::Duration;

/// Reads the owner's state from the index after its records were written, or could not be.
pub(super) fn view(
    index: &Index,
    owner: &Owner,
    object: &dyn BackendOwner,
    error: Option<&Error>,
) -> OwnerView {
    OwnerView {
        has_unready_pods: object.pods().is_some() && index.awaits_pods(owner),
        conflict: index
            .held(owner)
            .map(|(first, others)| taken::message(first, others)),
        is_refused: error.is_some_and(is_refusal),
    }
}

/// Others end by themselves, such as a conflict with another write.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Write(_)) && error.action().is_none()
}

/// Records an event about records that the API server refuses to store.
pub(crate) fn report_refusal(context: &Context, owner: &Regarding, error: &Error) {
    if is_refusal(error) {
        let message = in_full(error);
        let wait = Wait::new(reasons::RECORDS_REFUSED, message, WaitEvent::Problem);
        context.recorder.record_wait(owner, &wait);
    }
}

/// Reports an owner's wait in its status and, if it lasts, in events.
pub(crate) struct WaitReport<'a> {
    context: &'a Context,
    key: RequestKey,
    regarding: Regarding,
    wait: Option<Wait>,
    lasted: Duration,
}

impl<'a> WaitReport<'a> {
    pub(crate) fn new(
        context: &'a Context,
        key: RequestKey,
        regarding: Regarding,
        wait: Option<Wait>,
    ) -> Self {
        let lasted = if let Some(wait) = &wait {
            context.waits.begin(&key, wait.reason, None).lasted
        } else {
            context.end_wait(&key, &regarding);
            Duration::ZERO
        };
        Self {
            context,
            key,
            regarding,
            wait,
            lasted,
        }
    }

    /// The delay before another status may be written. A status in which only the reason differs is not
    /// worth a write before the wait has lasted for a moment: usually the counts follow.
    pub(crate) fn write_delay(&self, are_counts_equal: bool) -> Option<Duration> {
        let interval = self.context.options.status_interval;
        if are_counts_equal && self.wait.is_some() && self.lasted < interval {
            return Some(interval - self.lasted);
        }
        self.context.status_wait(&self.key)
    }

    /// Records an event if it is time to, and returns when to do so next.
    pub(crate) fn record(&self) -> Action {
        let Some(wait) = &self.wait else {
            return Action::AwaitChange;
        };
        let options = &self.context.options;
        let earliest = match wait.event {
            WaitEvent::Elsewhere => return Action::AwaitChange,
            WaitEvent::IfLong => options.long_wait,
            WaitEvent::Problem | WaitEvent::Progress => options.status_interval,
        };
        if self.lasted < earliest {
            return Action::RequeueAfter(earliest - self.lasted);
        }
        let repeat = self.context.recorder.record_wait(&self.regarding, wait);
        repeat.map_or(Action::AwaitChange, Action::RequeueAfter)
    }
}
