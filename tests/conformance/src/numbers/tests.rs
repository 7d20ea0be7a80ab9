use super::*;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::net::{TcpListener, UdpSocket};
use tempfile::TempDir;

/// The lock files of a test, which no other test uses.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn numbers(&self, range: RangeInclusive<u16>, seed: u64, is_local: bool) -> Numbers {
        Numbers {
            folder: self.0.path().to_owned(),
            ..Numbers::new(Some(range), seed, 118, is_local)
        }
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
    let machine = Machine::new();
    let all = |seed| -> Vec<u16> {
        let numbers = machine.numbers(1_000..=5_999, seed, false);
        let of_check = |check| (0..OF_CHECK).map(move |nth| (check, nth));
        let order = (0..119).flat_map(of_check);
        order.map(|(check, nth)| numbers.take(check, nth)).collect()
    };
    let first = all(7);
    let different: BTreeSet<u16> = first.iter().copied().collect();
    assert_eq!(different.len(), 119 * OF_CHECK);
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
    let machine = Machine::new();
    let [one, other] = [0; 2].map(|_| machine.numbers(4_000..=4_399, 3, false));
    // Alternately, as they run.
    let mut taken = BTreeSet::new();
    for nth in 0..60 {
        assert!(taken.insert(one.take(0, nth)), "{nth}");
        assert!(taken.insert(other.take(0, nth)), "{nth}");
    }
    assert!(taken.iter().all(|number| (4_000..=4_399).contains(number)));
    drop(one);
    let next = machine.numbers(4_000..=4_399, 3, false).take(0, 0);
    assert!(taken.contains(&next), "what was reserved is free again");
}

#[test]
fn a_process_that_is_being_started_does_not_keep_what_a_run_had_reserved() {
    let machine = Machine::new();
    let one = machine.numbers(4_000..=4_399, 3, false);
    let taken = one.take(0, 0);
    // As the child process has them until it executes its program.
    let inherited: Vec<File> = lock(&one.reserved)
        .locks
        .iter()
        .map(|(_, file)| file.try_clone().unwrap())
        .collect();
    drop(one);
    assert_eq!(machine.numbers(4_000..=4_399, 3, false).take(0, 0), taken);
    drop(inherited);
}

#[test]
fn a_process_that_is_being_started_does_not_keep_a_port_that_was_tried() {
    let machine = Machine::new();
    let numbers = machine.numbers(7_000..=7_999, 0, true);
    let [port, other] = [0, 1].map(|nth| numbers.take(0, nth));
    let _inherited = [Type::STREAM, Type::DGRAM]
        .map(|kind| probe(Domain::IPV4, localhost(port)[0], kind).unwrap());
    assert!(is_free(port));
    let _driver = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    assert!(!is_free(port), "something listens");
    let _datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, other)).unwrap();
    assert!(!is_free(other), "something receives datagrams");
}

#[test]
fn a_small_range_that_others_use_up_still_has_numbers() {
    let machine = Machine::new();
    let one = machine.numbers(5_000..=5_003, 1, false);
    let other = machine.numbers(5_000..=5_003, 1, false);
    for nth in 0..20 {
        assert!((5_000..=5_003).contains(&one.take(0, nth)));
        assert!((5_000..=5_003).contains(&other.take(116, nth)));
    }
}

#[test]
fn ports_in_use_are_not_taken_for_a_driver_on_this_machine() {
    // The system chooses a free one. The range is its cell: a run takes only a part of several ones.
    let busy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = busy.local_addr().unwrap().port();
    let first = port / CELL * CELL;
    let range = first..=first.saturating_add(CELL - 1);
    let machine = Machine::new();
    let local = machine.numbers(range.clone(), 0, true);
    let remote = machine.numbers(range, 0, false);
    let all = |numbers: &Numbers| -> BTreeSet<u16> {
        (0..usize::from(CELL) * 4)
            .map(|nth| numbers.take(0, nth))
            .collect()
    };
    assert!(!all(&local).contains(&port));
    drop(local);
    assert!(all(&remote).contains(&port), "its ports are elsewhere");
}

#[test]
fn nothing_is_left_in_the_folder_and_a_removed_lock_file_reserves_nothing() {
    let machine = Machine::new();
    let files = || std::fs::read_dir(machine.0.path()).unwrap().count();
    let one = machine.numbers(6_000..=6_099, 0, false);
    assert!((6_000..=6_099).contains(&one.take(0, 0)));
    assert_eq!(files(), 1);
    // Opened before the run that holds it ends, and locked afterwards.
    let path = lock(&one.reserved).locks[0].0.clone();
    let opened = File::open(&path).unwrap();
    drop(one);
    assert_eq!(files(), 0);
    assert!(!lock_at(&path, &opened).unwrap());
    let other = machine.numbers(6_000..=6_099, 0, false);
    assert_eq!(lock(&other.reserved).cells, 0);
    assert!((6_000..=6_099).contains(&other.take(0, 0)));
    assert_eq!(lock(&other.reserved).cells, 1);
    assert_eq!(files(), 1);
}
