//! On one clock, one thread at a time and with random numbers from one seed, the same happens again.

use lbcf_e2e::{OneClock, is_exhaustive, needs_embedded, sample};
use std::io::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CHAOS: &str = env!("CARGO_BIN_EXE_chaos");

/// What their logs would have to be equal in.
const EVERYTHING: &str = "local_cluster=debug,mock_driver=debug,lbcf_controller=debug";

/// Tests of processes or threads that compute, and those that run others or many worlds.
const OTHERS: [&str; 8] = [
    "exhaustive",
    "installation::",
    "one_clock::",
    "page::",
    "remote::",
    "scale::",
    "stale::",
    "traffic::",
];

fn is_skipped() -> bool {
    if let Some(missing) = OneClock::missing() {
        let test = thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "SKIPPED: {test} needs {missing}");
    }
    OneClock::missing().is_some() || needs_embedded("one clock for all")
}

/// Runs a test for each of these cases, as many at a time as there are processors.
fn for_each<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(case);
                }
            });
        }
    });
}

#[test]
fn exhaustive_the_same_seed_gives_the_same_requests_and_calls() {
    if is_skipped() {
        return;
    }
    // With two replicas, with audits, and restored from a backup, among others.
    for_each(&sample("seeds that are run twice", 0..10, 2), |seed| {
        let history = OneClock::of_history_by(CHAOS, *seed).with(&["--log", EVERYTHING]);
        let [first, second] =
            [(); 2].map(|()| history.output().unwrap_or_else(|it| panic!("{it}")));
        let mut lines = first.output.lines().zip(second.output.lines()).enumerate();
        if let Some((line, (one, other))) = lines.find(|(_, (one, other))| one != other) {
            panic!("{history}, line {line}:\n{one}\n{other}");
        }
        assert!(
            first.output.contains("user_agent=\"lbcf-controller\""),
            "no request: {history}"
        );
        assert!(
            first.output.contains("webhook=\"ensureBackend\""),
            "no call: {history}"
        );
        assert_eq!(first, second, "{history}");
    });
}

#[test]
fn another_seed_gives_another_history() {
    if is_skipped() {
        return;
    }
    let run = |seed: u64| {
        let history = OneClock::of(seed, CHAOS, &["--first", "0", "--seeds", "1"]);
        history.output().unwrap_or_else(|it| panic!("{it}"))
    };
    assert_ne!(run(1).fingerprint, run(2).fingerprint);
}

#[test]
fn exhaustive_tests_run_again_as_they_ran() {
    if is_skipped() {
        return;
    }
    let this = std::env::current_exe().unwrap();
    let list = Command::new(&this).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let tests = tests.filter(|test| !OTHERS.iter().any(|other| test.contains(other)));
    let some = if is_exhaustive() { 8 } else { 160 };
    let tests: Vec<_> = tests.step_by(some).collect();
    for_each(&tests, |test| {
        let one_clock = OneClock::of(7, &this, &["--test-threads", "1", "--exact", test]);
        let [first, second] = [(); 2].map(|()| one_clock.output());
        let first = first.unwrap_or_else(|it| panic!("{it}"));
        let second = second.unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(first.fingerprint, second.fingerprint, "{one_clock}");
    });
}

#[test]
fn exhaustive_histories_end_as_declared_on_one_clock() {
    if is_skipped() {
        return;
    }
    for_each(&sample("histories on one clock", 0..200, 2), |seed| {
        if let Err(finding) = OneClock::of_history_by(CHAOS, *seed).output() {
            panic!("{finding}");
        }
    });
}
