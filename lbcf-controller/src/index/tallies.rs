//! Counts the registered records of each owner incrementally.
//!
//! A backend counts as registered when all its records are (d8). How many those are depends on the
//! owner's load balancers, so units are counted by their number of registered records: for any
//! number, the result is a sum of a few counts instead of an iteration over all records.

use crate::index::owner::{Owner, Unit};
use std::collections::{BTreeMap, HashMap};

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

    pub(crate) fn records(&self, owner: &Owner) -> usize {
        self.0.get(owner).map_or(0, |tally| tally.total)
    }

    /// Counts the units of an owner that have at least `at_least` registered records.
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
}
