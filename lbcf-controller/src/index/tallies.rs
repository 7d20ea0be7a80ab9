//! Counts of the records and the endpoints of owners, kept up to date so that a status costs a look-up.

use crate::index::request::{Owner, Unit};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(crate) struct Tallies(HashMap<Owner, Tally>);

#[derive(Debug, Default)]
struct Tally {
    /// By unit: its number of registered records.
    of_unit: HashMap<Unit, usize>,
    /// By number of registered records: how many units have it.
    by_count: BTreeMap<usize, usize>,
    total: usize,
}

impl Tallies {
    pub(super) fn add(&mut self, owner: &Owner, unit: &Unit) {
        let tally = self.0.entry(owner.clone()).or_default();
        let count = tally.of_unit.entry(Unit::clone(unit)).or_default();
        let before = *count;
        *count += 1;
        move_one(&mut tally.by_count, before, before + 1);
        tally.total += 1;
    }

    pub(super) fn remove(&mut self, owner: &Owner, unit: &str) {
        let Some(tally) = self.0.get_mut(owner) else {
            return;
        };
        let Some(count) = tally.of_unit.get_mut(unit) else {
            return;
        };
        let before = *count;
        *count -= 1;
        if *count == 0 {
            tally.of_unit.remove(unit);
        }
        move_one(&mut tally.by_count, before, before - 1);
        tally.total -= 1;
        if tally.total == 0 {
            self.0.remove(owner);
        }
    }

    /// The number of records of an owner that are registered.
    pub(crate) fn records(&self, owner: &Owner) -> usize {
        self.0.get(owner).map_or(0, |tally| tally.total)
    }

    /// The number of units of an owner that have at least so many registered records.
    pub(crate) fn units(&self, owner: &Owner, at_least: usize) -> usize {
        self.0.get(owner).map_or(0, |tally| {
            tally.by_count.range(at_least..).map(|(_, n)| n).sum()
        })
    }
}

fn move_one(by_count: &mut BTreeMap<usize, usize>, from: usize, to: usize) {
    if let Some(units) = by_count.get_mut(&from) {
        *units -= 1;
        if *units == 0 {
            by_count.remove(&from);
        }
    }
    if to > 0 {
        *by_count.entry(to).or_default() += 1;
    }
}

/// The counts of a unit.
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
    fn d8_units_count_when_they_have_enough_records() {
        let owner = Owner::Group(ObjectKey::new("ns", "web"));
        let mut tallies = Tallies::default();
        for unit in ["a", "a", "b", "c", "c", "c"] {
            tallies.add(&owner, &unit.into());
        }
        let units = |tallies: &Tallies| [1, 2, 3, 4].map(|n| tallies.units(&owner, n));
        assert_eq!(units(&tallies), [3, 2, 1, 0]);
        assert_eq!(tallies.records(&owner), 6);
        tallies.remove(&owner, "a");
        tallies.remove(&owner, "c");
        tallies.remove(&owner, "no such unit");
        assert_eq!(units(&tallies), [3, 1, 0, 0]);
        for unit in ["a", "b", "c", "c"] {
            tallies.remove(&owner, unit);
        }
        assert!(tallies.0.is_empty(), "nothing is left behind");
    }

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
