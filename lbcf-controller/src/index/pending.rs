//! Which backends of an owner have to be reconciled.
//!
//! A changed pod does not cause an owner with thousands of pods to be reconciled as a whole: the
//! names of changed *units* (a pod, a node or an address) are collected here, and reconciling takes
//! a batch of names at a time, beginning with those that may have to be deregistered.

use crate::key::Owner;
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Pending(HashMap<Owner, PendingUnits>);

#[derive(Debug, Default)]
struct PendingUnits {
    /// The owner itself changed, or one of its load balancers.
    all: bool,
    high: BTreeSet<String>,
    normal: BTreeSet<String>,
}

impl Pending {
    pub(super) fn mark_all(&mut self, owner: &Owner) {
        self.of(owner).all = true;
    }

    pub(super) fn mark(&mut self, owner: &Owner, unit: &str, may_deregister: bool) {
        let units = self.of(owner);
        if may_deregister {
            units.normal.remove(unit);
            units.high.insert(unit.to_owned());
        } else if !units.high.contains(unit) {
            units.normal.insert(unit.to_owned());
        }
    }

    /// Takes the mark of [`Pending::mark_all`]; the caller then marks each unit.
    pub(super) fn take_all(&mut self, owner: &Owner) -> bool {
        let units = self.0.get_mut(owner);
        units.is_some_and(|units| std::mem::take(&mut units.all))
    }

    pub(super) fn take(&mut self, owner: &Owner, limit: usize) -> BTreeSet<String> {
        let mut taken = BTreeSet::new();
        let Some(units) = self.0.get_mut(owner) else {
            return taken;
        };
        for marked in [&mut units.high, &mut units.normal] {
            while taken.len() < limit
                && let Some(unit) = marked.pop_first()
            {
                taken.insert(unit);
            }
        }
        if !units.all && units.high.is_empty() && units.normal.is_empty() {
            self.0.remove(owner);
        }
        taken
    }

    pub(super) fn remove(&mut self, owner: &Owner) {
        self.0.remove(owner);
    }

    fn of(&mut self, owner: &Owner) -> &mut PendingUnits {
        self.0.entry(owner.clone()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectKey;

    #[test]
    fn units_that_may_be_deregistered_come_first_and_a_batch_is_limited() {
        let owner = Owner::Group(ObjectKey::new("ns", "web"));
        let mut pending = Pending::default();
        for unit in ["a", "b", "c"] {
            pending.mark(&owner, unit, false);
        }
        pending.mark(&owner, "c", true);
        pending.mark(&owner, "c", false);
        assert_eq!(
            pending.take(&owner, 2),
            BTreeSet::from(["a".into(), "c".into()])
        );
        assert_eq!(pending.take(&owner, 2), BTreeSet::from(["b".into()]));
        assert!(pending.take(&owner, 2).is_empty());
        assert!(pending.0.is_empty(), "nothing is left behind");
        pending.mark_all(&owner);
        assert!(pending.take(&owner, 2).is_empty());
        assert!(pending.take_all(&owner) && !pending.take_all(&owner));
    }
}
