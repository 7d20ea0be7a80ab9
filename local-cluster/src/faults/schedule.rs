//! Which of the requests that a fault concerns it strikes.

/// A choice among requests by their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    /// How many are let pass first.
    pub(super) skip: u64,
    /// How many are struck at most.
    pub(super) times: u64,
    /// How likely one is to be struck, and the seed that decides.
    pub(super) chance: Option<(f64, u64)>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            skip: 0,
            times: u64::MAX,
            chance: None,
        }
    }
}

/// How far a fault has got.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) matched: u64,
    pub(super) hits: u64,
}

impl Progress {
    /// Counts a request; says whether it is struck.
    pub(super) fn next(&mut self, schedule: &Schedule) -> bool {
        let number = self.matched;
        self.matched += 1;
        let strikes = number >= schedule.skip
            && self.hits < schedule.times
            && schedule
                .chance
                .is_none_or(|(chance, seed)| fraction(seed, number) < chance);
        self.hits += u64::from(strikes);
        strikes
    }
}

/// A number from 0 to 1 that depends on the seed and the request's number alone (SplitMix64).
fn fraction(seed: u64, number: u64) -> f64 {
    let mut mixed = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // 32 bits are exact in a float.
    f64::from(u32::try_from(mixed >> 32).unwrap_or(u32::MAX)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struck(schedule: Schedule, requests: u64) -> Vec<u64> {
        let mut progress = Progress::default();
        let struck = (0..requests).filter(|_| progress.next(&schedule)).collect();
        assert_eq!(progress.matched, requests);
        struck
    }

    #[test]
    fn some_pass_and_some_are_struck() {
        assert_eq!(struck(Schedule::default(), 3), [0, 1, 2]);
        let schedule = Schedule {
            skip: 1,
            times: 2,
            chance: None,
        };
        assert_eq!(struck(schedule, 9), [1, 2]);
    }

    #[test]
    fn chance_is_the_same_every_time_and_as_likely_as_said() {
        let schedule = |chance, seed| Schedule {
            chance: Some((chance, seed)),
            ..Schedule::default()
        };
        let first = struck(schedule(0.3, 7), 10_000);
        assert_eq!(first, struck(schedule(0.3, 7), 10_000));
        assert_ne!(first, struck(schedule(0.3, 8), 10_000));
        assert!((2_800..3_200).contains(&first.len()), "{}", first.len());
        assert!(struck(schedule(0.0, 7), 100).is_empty());
        assert_eq!(struck(schedule(1.0, 7), 100).len(), 100);
    }
}
