use super::execute::PlanOutcome;
use crate::index::{Owner, Unit};
use crate::runtime::{Action, Context, Error};
use std::collections::BTreeSet;
use std::time::Duration;

/// The number of units of an owner that are reconciled at a time, so that deregistering some need not
/// wait until all backends of a large owner are registered.
const BATCH: usize = 256;

/// Units of an owner that are being reconciled. Those that are not done when this is dropped are
/// marked again.
pub(crate) struct UnitBatch<'a> {
    context: &'a Context,
    owner: &'a Owner,
    pub(crate) units: BTreeSet<Unit>,
}

impl<'a> UnitBatch<'a> {
    pub(crate) fn take(context: &'a Context, owner: &'a Owner) -> Self {
        let mut index = context.index();
        let object = index.backend_owner(owner);
        if object.is_some_and(|object| object.service_of_endpoints().is_some()) {
            let (over, _) = absences(context, owner);
            index.mark_units(owner, &over);
        } else {
            // It has other backends now, or is gone.
            context.absences.remove(owner);
        }
        let units = index.take_units(owner, BATCH);
        drop(index);
        Self {
            context,
            owner,
            units,
        }
    }

    /// True if the owner may have more units that wait.
    pub(crate) fn is_full(&self) -> bool {
        self.units.len() == BATCH
    }

    /// All units are done except those that failed, and those whose records' names are taken. The
    /// latter would fail again at once, and are held until the last batch is done (d35).
    pub(crate) fn done(mut self, outcome: &mut PlanOutcome) {
        self.units = std::mem::take(&mut outcome.failed);
        let taken = std::mem::take(&mut outcome.taken);
        self.context.index().hold_units(self.owner, taken);
    }
}

/// Ends the reconciliation of an owner whose units are done: retries with backoff what was held, and
/// comes back when the wait for an endpoint that no slice has is over (d61).
///
/// # Errors
/// [`Error::NameTaken`] if something was held.
pub(crate) fn finish(context: &Context, owner: &Owner, action: Action) -> Result<Action, Error> {
    if context.index().release_units(owner) {
        return Err(Error::NameTaken);
    }
    let (_, next) = absences(context, owner);
    Ok(next.map_or(action, |next| action.at_most(next)))
}

/// The units whose endpoints no slice has and that are not waited for any longer, and when the wait for
/// the next one is over.
fn absences(context: &Context, owner: &Owner) -> (Vec<Unit>, Option<Duration>) {
    let grace_period = context.options.endpoint_grace_period;
    context.absences.over(owner, grace_period)
}

impl Drop for UnitBatch<'_> {
    fn drop(&mut self) {
        self.context.index().mark_units(self.owner, &self.units);
    }
}
