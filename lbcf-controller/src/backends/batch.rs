use super::execute::PlanOutcome;
use crate::context::Context;
use crate::key::{Owner, Unit};
use crate::reconcile::Error;
use std::collections::BTreeSet;

/// How many units of an owner are reconciled at a time, so that deregistering some need not wait
/// until all backends of a large owner are registered.
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
        let units = context.index().take_units(owner, BATCH);
        Self {
            context,
            owner,
            units,
        }
    }

    /// Whether there may be more units.
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

/// Retries with backoff what was held.
///
/// # Errors
/// [`Error::NameTaken`] if something was.
pub(crate) fn release_held(context: &Context, owner: &Owner) -> Result<(), Error> {
    if context.index().release_units(owner) {
        Err(Error::NameTaken)
    } else {
        Ok(())
    }
}

impl Drop for UnitBatch<'_> {
    fn drop(&mut self) {
        self.context.index().mark_units(self.owner, &self.units);
    }
}
