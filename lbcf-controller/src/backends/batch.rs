use crate::context::Context;
use crate::key::Owner;
use std::collections::BTreeSet;

/// How many units of an owner are reconciled at a time, so that deregistering some need not wait
/// until all backends of a large owner are registered.
const BATCH: usize = 256;

/// Units of an owner that are being reconciled. Those that are not done when this is dropped are
/// marked again.
pub(crate) struct UnitBatch<'a> {
    context: &'a Context,
    owner: &'a Owner,
    pub(crate) units: BTreeSet<String>,
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

    /// All units are done except those that failed.
    pub(crate) fn done(mut self, failed: BTreeSet<String>) {
        self.units = failed;
    }
}

impl Drop for UnitBatch<'_> {
    fn drop(&mut self) {
        self.context.index().mark_units(self.owner, &self.units);
    }
}
