//! Units that are being worked on.

use crate::context::Context;
use crate::key::Owner;
use std::collections::BTreeSet;

/// How many units of an owner are looked at in one go: what is to be taken away meanwhile must not
/// wait until a large owner is built up.
const BATCH: usize = 256;

/// Units of an owner that were taken to be worked on. Those that are not done when this is dropped
/// go back, whatever the reason: nothing that has to be looked at is forgotten.
pub(crate) struct Taken<'a> {
    context: &'a Context,
    owner: &'a Owner,
    units: BTreeSet<String>,
}

impl<'a> Taken<'a> {
    /// Takes the next units of an owner.
    pub(crate) fn next(context: &'a Context, owner: &'a Owner) -> Self {
        let units = context.index().take_units(owner, BATCH);
        Self {
            context,
            owner,
            units,
        }
    }

    /// The units.
    pub(crate) const fn units(&self) -> &BTreeSet<String> {
        &self.units
    }

    /// Whether there may be more where these came from.
    pub(crate) fn is_full(&self) -> bool {
        self.units.len() == BATCH
    }

    /// They are done, but for some.
    pub(crate) fn done_but(mut self, failed: BTreeSet<String>) {
        self.units = failed;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.units.is_empty() {
            let mut index = self.context.index();
            index.put_back(self.owner, self.units.iter());
        }
    }
}
