//! Which backends of an owner have to be reconciled.
//!
//! A changed pod does not cause an owner with thousands of pods to be reconciled as a whole: the
//! names of changed *units* (a pod, a node or an address) are collected here, and reconciling takes
//! a batch of names at a time, beginning with those that may have to be deregistered.

use crate::index::request::{Owner, Unit};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Pending(HashMap<Owner, PendingUnits>);

#[derive(Debug, Default)]
struct PendingUnits {
    /// The owner itself changed, or one of its load balancers.
    all: bool,
    high: BTreeSet<Unit>,
    normal: BTreeSet<Unit>,
    /// Those that cannot be done now and must not delay the others, with the reasons.
    held: BTreeMap<Unit, String>,
}

impl Pending {
    pub(super) fn mark_all(&mut self, owner: &Owner) {
        self.of(owner).all = true;
    }

    pub(super) fn mark(&mut self, owner: &Owner, unit: impl Into<Unit>, may_deregister: bool) {
        let (units, unit) = (self.of(owner), unit.into());
        if may_deregister {
            units.normal.remove(&unit);
            units.high.insert(unit);
        } else if !units.high.contains(&unit) {
            units.normal.insert(unit);
        }
    }

    /// Takes the mark of [`Pending::mark_all`]; the caller then marks each unit.
    pub(super) fn take_all(&mut self, owner: &Owner) -> bool {
        let units = self.0.get_mut(owner);
        units.is_some_and(|units| std::mem::take(&mut units.all))
    }

    pub(super) fn take(&mut self, owner: &Owner, limit: usize) -> BTreeSet<Unit> {
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
        let is_empty = units.high.is_empty() && units.normal.is_empty() && units.held.is_empty();
        if !units.all && is_empty {
            self.0.remove(owner);
        }
        taken
    }

    /// Marks units that are not taken before [`Pending::release`].
    pub(super) fn hold(&mut self, owner: &Owner, held: BTreeMap<Unit, String>) {
        if !held.is_empty() {
            self.of(owner).held.extend(held);
        }
    }

    /// Why the units are held that are, in the order of their names.
    pub(super) fn held(&self, owner: &Owner) -> impl Iterator<Item = &String> {
        let units = self.0.get(owner).into_iter();
        units.flat_map(|units| units.held.values())
    }

    /// Lets held units be taken again; returns whether there were any.
    pub(super) fn release(&mut self, owner: &Owner) -> bool {
        let units = self.0.get_mut(owner);
        let held = units.map(|units| std::mem::take(&mut units.held));
        let held = held.unwrap_or_default();
        let is_any = !held.is_empty();
        for unit in held.into_keys() {
            self.mark(owner, unit, false);
        }
        is_any
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
    use crate::api::ObjectKey;

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

    #[test]
    fn d35_units_that_are_held_delay_no_other() {
        let owner = Owner::Group(ObjectKey::new("ns", "web"));
        let (a, b) = (BTreeSet::from(["a".into()]), BTreeSet::from(["b".into()]));
        let held = BTreeMap::from([("a".into(), "its name is taken".into())]);
        let mut pending = Pending::default();
        assert!(!pending.release(&owner));
        pending.mark(&owner, "b", false);
        pending.hold(&owner, held);
        assert_eq!(pending.take(&owner, 1), b);
        assert!(pending.take(&owner, 1).is_empty());
        assert_eq!(
            pending.held(&owner).collect::<Vec<_>>(),
            ["its name is taken"]
        );
        assert!(pending.release(&owner) && !pending.release(&owner));
        assert_eq!(pending.held(&owner).count(), 0);
        assert_eq!(pending.take(&owner, 1), a);
        assert!(pending.0.is_empty(), "nothing is left behind");
    }
}
