use super::*;
use std::collections::BTreeSet;

/// With reservations of their own: those of a test, which runs in a thread of its name.
fn numbers(range: RangeInclusive<u16>, seed: u64, is_local: bool) -> Numbers {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default().rsplit("::").next();
    let folder = format!(
        "lbcf-numbers-{}-{}",
        std::process::id(),
        test.unwrap_or_default()
    );
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    Numbers {
        folder,
        ..Numbers::new(Some(range), seed, 117, is_local)
    }
}

#[test]
fn the_default_is_outside_of_the_ephemeral_ports() {
    for (ephemeral, expected) in [
        (32_768..=60_999, 20_000..=29_999),
        (49_152..=65_535, 20_000..=29_999),
        (25_000..=60_999, 20_000..=24_999),
        (15_000..=65_535, 10_000..=14_999),
        (1_024..=40_000, 40_001..=65_535),
        (1_024..=65_535, 20_000..=29_999),
    ] {
        assert_eq!(default_range(ephemeral.clone()), expected, "{ephemeral:?}");
    }
    assert_eq!(parse_range("32768\t60999\n"), Some(32_768..=60_999));
    for text in ["", "1", "60999 32768", "a b", "1 70000"] {
        assert_eq!(parse_range(text), None, "{text:?}");
    }
}

#[test]
fn the_same_seed_takes_the_same_numbers_and_none_twice() {
    let all = |seed| -> Vec<u16> {
        let numbers = numbers(1_000..=5_999, seed, false);
        let of_check = |check| (0..OF_CHECK).map(move |nth| (check, nth));
        let order = (0..117).flat_map(of_check);
        order.map(|(check, nth)| numbers.take(check, nth)).collect()
    };
    let first = all(7);
    let different: BTreeSet<u16> = first.iter().copied().collect();
    assert_eq!(different.len(), 117 * OF_CHECK);
    assert!(
        different
            .iter()
            .all(|number| (1_000..=5_999).contains(number))
    );
    // The first run ended, so that its numbers are free again.
    assert_eq!(all(7), first);
    assert_ne!(all(8)[0], first[0]);
}

#[test]
fn concurrent_runs_take_different_numbers() {
    let [one, other] = [0; 2].map(|_| numbers(4_000..=4_399, 3, false));
    // Alternately, as they run.
    let mut taken = BTreeSet::new();
    for nth in 0..60 {
        assert!(taken.insert(one.take(0, nth)), "{nth}");
        assert!(taken.insert(other.take(0, nth)), "{nth}");
    }
    assert!(taken.iter().all(|number| (4_000..=4_399).contains(number)));
    drop(one);
    let next = numbers(4_000..=4_399, 3, false).take(0, 0);
    assert!(taken.contains(&next), "what was reserved is free again");
}

#[test]
fn a_small_range_that_others_use_up_still_has_numbers() {
    let one = numbers(5_000..=5_003, 1, false);
    let other = numbers(5_000..=5_003, 1, false);
    for nth in 0..20 {
        assert!((5_000..=5_003).contains(&one.take(0, nth)));
        assert!((5_000..=5_003).contains(&other.take(116, nth)));
    }
}

#[test]
fn ports_in_use_are_not_taken_for_a_driver_on_this_machine() {
    // The system chooses a free one, and the range has one more.
    let busy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = busy.local_addr().unwrap().port();
    let range = port.saturating_sub(20)..=port;
    let local = numbers(range.clone(), 0, true);
    let remote = numbers(range, 0, false);
    let all = |numbers: &Numbers| -> BTreeSet<u16> {
        (0..21 * 4).map(|nth| numbers.take(0, nth)).collect()
    };
    assert!(!all(&local).contains(&port));
    drop(local);
    assert!(all(&remote).contains(&port), "its ports are elsewhere");
}
