//! Counts the endpoints of each owner that are backends, as its units are reconciled.
//!
//! Which endpoints are backends follows from the Service, the slices and the group. All of them enqueue
//! the units that they change, so the counts are correct when no unit is left to be reconciled.

use crate::index::owner::{Owner, Unit};
use std::collections::{BTreeSet, HashMap};

/// The contribution of one unit to its owner's [`EndpointCounts`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UnitTally {
    /// The endpoints that are not terminating: one for each port.
    pub endpoints: usize,
    /// Those of them that are not ready.
    pub unready: usize,
}

/// The sums of an owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EndpointCounts {
    /// The units that have endpoints.
    pub units: usize,
    pub endpoints: usize,
    pub unready: usize,
}

#[derive(Debug, Default)]
pub(crate) struct UnitTallies(HashMap<Owner, OwnerTally>);

#[derive(Debug, Default)]
struct OwnerTally {
    of_unit: HashMap<Unit, UnitTally>,
    sums: EndpointCounts,
}

impl UnitTallies {
    pub(crate) fn set(&mut self, owner: &Owner, unit: &Unit, tally: UnitTally) {
        let is_counted = tally != UnitTally::default();
        if !is_counted && !self.0.contains_key(owner) {
            return;
        }
        let of_owner = self.0.entry(owner.clone()).or_default();
        let old = if is_counted {
            of_owner.of_unit.insert(Unit::clone(unit), tally)
        } else {
            of_owner.of_unit.remove(unit)
        };
        let (old, sums) = (old.unwrap_or_default(), &mut of_owner.sums);
        sums.endpoints = sums.endpoints + tally.endpoints - old.endpoints;
        sums.unready = sums.unready + tally.unready - old.unready;
        sums.units = of_owner.of_unit.len();
        if of_owner.of_unit.is_empty() {
            self.0.remove(owner);
        }
    }

    /// Removes the units of an owner that are not among these, as they are no candidates any more.
    pub(super) fn retain(&mut self, owner: &Owner, units: &BTreeSet<Unit>) {
        let of_owner = self.0.get(owner).map(|it| &it.of_unit);
        let gone = of_owner.into_iter().flat_map(HashMap::keys);
        let gone: Vec<Unit> = gone.filter(|it| !units.contains(*it)).cloned().collect();
        for unit in gone {
            self.set(owner, &unit, UnitTally::default());
        }
    }

    pub(crate) fn of(&self, owner: &Owner) -> EndpointCounts {
        self.0.get(owner).map(|it| it.sums).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, owner: &Owner) {
        self.0.remove(owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;

    #[test]
    fn d60_the_sums_follow_the_units() {
        let owner = Owner::Group(ObjectKey::new("ns", "web"));
        let mut tallies = UnitTallies::default();
        let tally = |endpoints, unready| UnitTally { endpoints, unready };
        tallies.set(&owner, &"a".into(), UnitTally::default());
        for (unit, endpoints, unready) in [("a", 1, 0), ("b", 2, 1), ("a", 1, 1)] {
            tallies.set(&owner, &unit.into(), tally(endpoints, unready));
        }
        let counts = |units, endpoints, unready| EndpointCounts {
            units,
            endpoints,
            unready,
        };
        assert_eq!(tallies.of(&owner), counts(2, 3, 2));
        tallies.set(&owner, &"b".into(), UnitTally::default());
        assert_eq!(tallies.of(&owner), counts(1, 1, 1));
        tallies.set(&owner, &"a".into(), UnitTally::default());
        assert!(tallies.0.is_empty(), "nothing is left behind");
    }

    #[test]
    fn d60_units_that_are_no_candidates_any_more_do_not_count() {
        let owner = Owner::Bind(ObjectKey::new("ns", "web"));
        let mut tallies = UnitTallies::default();
        for unit in ["a", "b"] {
            let tally = UnitTally {
                endpoints: 1,
                unready: 1,
            };
            tallies.set(&owner, &unit.into(), tally);
        }
        tallies.retain(&owner, &BTreeSet::from(["b".into(), "c".into()]));
        assert_eq!(tallies.of(&owner).units, 1);
        tallies.retain(&owner, &BTreeSet::new());
        assert!(tallies.0.is_empty(), "nothing is left behind");
    }
}
