//! Smooth weighted round robin: items take turns by weight, and the turns of a heavy item are spread
//! evenly instead of following each other.
//!
//! At each turn every item gains its weight, the richest one is chosen, and pays the sum of all
//! weights. Items that are skipped neither gain nor pay, so they are not owed turns afterwards.

/// Items with weights, and whose turn it is.
#[derive(Debug)]
pub(super) struct Schedule<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    item: T,
    weight: i64,
    credit: i64,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<T: Clone> Schedule<T> {
    /// Adds an item, whose turn comes with its share from now on.
    pub(super) fn insert(&mut self, item: T, weight: u8) {
        self.entries.push(Entry {
            item,
            weight: weight.into(),
            credit: 0,
        });
    }

    /// Changes weights; an item without one is removed, and returned.
    pub(super) fn update(&mut self, weight: impl Fn(&T) -> Option<u8>) -> Vec<T> {
        let removed = self.entries.extract_if(.., |entry| {
            let weight = weight(&entry.item);
            entry.weight = weight.unwrap_or(0).into();
            weight.is_none()
        });
        removed.map(|entry| entry.item).collect()
    }

    pub(super) fn position(&self, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        self.entries.iter().position(|entry| is_it(&entry.item))
    }

    /// Changes the weight of the item at a [`position`](Self::position). Returns the item and its weight before.
    pub(super) fn set_weight(&mut self, at: usize, weight: u8) -> (T, i64) {
        let entry = &mut self.entries[at];
        let before = std::mem::replace(&mut entry.weight, weight.into());
        (entry.item.clone(), before)
    }

    /// Removes the item at a [`position`](Self::position).
    pub(super) fn remove(&mut self, at: usize) -> T {
        self.entries.remove(at).item
    }

    /// The item whose turn it is, among those that `may` have one. An item of weight 0 has none.
    pub(super) fn next(&mut self, may: impl Fn(&T) -> bool) -> Option<T> {
        let mut total = 0;
        let mut chosen: Option<usize> = None;
        for at in 0..self.entries.len() {
            let entry = &mut self.entries[at];
            if entry.weight == 0 || !may(&entry.item) {
                continue;
            }
            entry.credit += entry.weight;
            total += entry.weight;
            let credit = entry.credit;
            if chosen.is_none_or(|best| credit > self.entries[best].credit) {
                chosen = Some(at);
            }
        }
        let entry = self.entries.get_mut(chosen?)?;
        entry.credit -= total;
        Some(entry.item.clone())
    }

    pub(super) fn items(&self) -> impl Iterator<Item = (&T, i64)> {
        self.entries.iter().map(|entry| (&entry.item, entry.weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn schedule(weights: &[(char, u8)]) -> Schedule<char> {
        let mut schedule = Schedule::default();
        for (item, weight) in weights {
            schedule.insert(*item, *weight);
        }
        schedule
    }

    fn turns(schedule: &mut Schedule<char>, count: usize) -> String {
        (0..count).filter_map(|_| schedule.next(|_| true)).collect()
    }

    #[test]
    fn turns_follow_the_weights_and_are_spread() {
        assert_eq!(
            turns(&mut schedule(&[('a', 5), ('b', 1), ('c', 1)]), 7),
            "aabacaa"
        );
        assert_eq!(turns(&mut schedule(&[('a', 100), ('b', 100)]), 4), "abab");
    }

    #[test]
    fn every_cycle_has_exactly_the_weights() {
        let weights = [('a', 50), ('b', 80), ('c', 7), ('d', 0)];
        let mut schedule = schedule(&weights);
        for _ in 0..3 {
            let mut counts = BTreeMap::new();
            for turn in turns(&mut schedule, 137).chars() {
                *counts.entry(turn).or_insert(0) += 1;
            }
            assert_eq!(counts, BTreeMap::from([('a', 50), ('b', 80), ('c', 7)]));
        }
    }

    #[test]
    fn weight_0_and_an_empty_schedule_have_no_turns() {
        assert_eq!(schedule(&[('a', 0)]).next(|_| true), None);
        assert_eq!(schedule(&[]).next(|_| true), None);
    }

    #[test]
    fn skipped_items_are_not_owed_turns() {
        let mut schedule = schedule(&[('a', 1), ('b', 1)]);
        for _ in 0..100 {
            assert_eq!(schedule.next(|item| *item != 'a'), Some('b'));
        }
        assert_eq!(turns(&mut schedule, 4), "abab");
        assert_eq!(schedule.next(|_| false), None);
    }

    #[test]
    fn an_update_keeps_the_others_and_returns_what_is_gone() {
        let mut schedule = schedule(&[('a', 1), ('b', 1), ('c', 1)]);
        assert_eq!(schedule.next(|_| true), Some('a'));
        let gone =
            schedule.update(|item| (*item != 'b').then_some(if *item == 'c' { 0 } else { 1 }));
        assert_eq!(gone, ['b']);
        assert_eq!(turns(&mut schedule, 3), "aaa");
    }
}
