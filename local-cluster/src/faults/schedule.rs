//! Which of the matching requests a fault hits.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    /// How many requests pass first.
    pub(super) skip: u64,
    /// How many requests are hit at most.
    pub(super) times: u64,
    /// The probability of a hit, and the seed.
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

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FaultProgress {
    pub(super) matched: u64,
    pub(super) hits: u64,
}

impl FaultProgress {
    /// Counts a request. Returns whether it is hit.
    pub(super) fn next(&mut self, schedule: &Schedule) -> bool {
        let number = self.matched;
        self.matched += 1;
        let hit = number >= schedule.skip
            && self.hits < schedule.times
            && schedule
                .chance
                .is_none_or(|(chance, seed)| fraction(seed, number) < chance);
        self.hits += u64::from(hit);
        hit
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

    fn hits(schedule: Schedule, requests: u64) -> Vec<u64> {
        let mut progress = FaultProgress::default();
        let hits = (0..requests).filter(|_| progress.next(&schedule)).collect();
        assert_eq!(progress.matched, requests);
        hits
    }

    #[test]
    fn skip_and_times_limit_the_hits() {
        assert_eq!(hits(Schedule::default(), 3), [0, 1, 2]);
        let schedule = Schedule {
            skip: 1,
            times: 2,
            chance: None,
        };
        assert_eq!(hits(schedule, 9), [1, 2]);
    }

    #[test]
    fn chance_is_reproducible_and_has_the_given_probability() {
        let schedule = |chance, seed| Schedule {
            chance: Some((chance, seed)),
            ..Schedule::default()
        };
        let first = hits(schedule(0.3, 7), 10_000);
        assert_eq!(first, hits(schedule(0.3, 7), 10_000));
        assert_ne!(first, hits(schedule(0.3, 8), 10_000));
        assert!((2_800..3_200).contains(&first.len()), "{}", first.len());
        assert!(hits(schedule(0.0, 7), 100).is_empty());
        assert_eq!(hits(schedule(1.0, 7), 100).len(), 100);
    }
}
