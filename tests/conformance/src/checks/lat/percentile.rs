//! Percentiles.

use std::time::Duration;

/// The time that this percentage of the times does not exceed, by the nearest rank; of few times the
/// longest.
pub(super) fn percentile(mut times: Vec<Duration>, percent: usize) -> Option<Duration> {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100);
    times.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Vec<Duration> {
        (1..=count).rev().map(Duration::from_secs).collect()
    }

    #[test]
    fn of_few_it_is_the_longest_and_of_many_one_in_twenty_is_longer() {
        assert_eq!(percentile(seconds(0), 95), None);
        assert_eq!(percentile(seconds(1), 95), Some(Duration::from_secs(1)));
        assert_eq!(percentile(seconds(19), 95), Some(Duration::from_secs(19)));
        assert_eq!(percentile(seconds(20), 95), Some(Duration::from_secs(19)));
        assert_eq!(percentile(seconds(100), 95), Some(Duration::from_secs(95)));
    }
}
