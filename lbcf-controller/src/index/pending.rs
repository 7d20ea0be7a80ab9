//! Which backends of an owner have to be looked at.
//!
//! An owner with thousands of pods is not decided whole because one pod changed: what changed is
//! noted here by name (a *unit*: a pod, a node or an address), and deciding takes a batch of names
//! at a time, those first that may have to be taken away.

use crate::key::Owner;
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Pending(HashMap<Owner, Units>);

#[derive(Debug, Default)]
struct Units {
    /// Everything: the owner itself changed, or a load balancer of it.
    whole: bool,
    first: BTreeSet<String>,
    in_turn: BTreeSet<String>,
}

impl Pending {
    /// Notes that everything of an owner has to be looked at.
    pub(super) fn mark_whole(&mut self, owner: &Owner) {
        self.of(owner).whole = true;
    }

    /// Notes one unit; `may_leave` where something may have to be taken away.
    pub(super) fn mark(&mut self, owner: &Owner, unit: &str, may_leave: bool) {
        let units = self.of(owner);
        if may_leave {
            units.in_turn.remove(unit);
            units.first.insert(unit.to_owned());
        } else if !units.first.contains(unit) {
            units.in_turn.insert(unit.to_owned());
        }
    }

    /// Whether everything has to be looked at; the caller then marks each unit.
    pub(super) fn take_whole(&mut self, owner: &Owner) -> bool {
        self.0
            .get_mut(owner)
            .is_some_and(|units| std::mem::take(&mut units.whole))
    }

    /// The next units, at most `limit`.
    pub(super) fn take(&mut self, owner: &Owner, limit: usize) -> BTreeSet<String> {
        let mut taken = BTreeSet::new();
        let Some(units) = self.0.get_mut(owner) else {
            return taken;
        };
        for line in [&mut units.first, &mut units.in_turn] {
            while taken.len() < limit
                && let Some(unit) = line.pop_first()
            {
                taken.insert(unit);
            }
        }
        if !units.whole && units.first.is_empty() && units.in_turn.is_empty() {
            self.0.remove(owner);
        }
        taken
    }

    /// Forgets an owner that is gone.
    pub(super) fn forget(&mut self, owner: &Owner) {
        self.0.remove(owner);
    }

    fn of(&mut self, owner: &Owner) -> &mut Units {
        self.0.entry(owner.clone()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectKey;

    #[test]
    fn what_may_leave_comes_first_and_a_batch_is_limited() {
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
        assert!(pending.0.is_empty(), "nothing is kept of it");
        pending.mark_whole(&owner);
        assert!(pending.take(&owner, 2).is_empty());
        assert!(pending.take_whole(&owner) && !pending.take_whole(&owner));
    }
}
