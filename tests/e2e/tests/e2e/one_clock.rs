//! On one clock, one thread at a time and with random numbers from one seed, the same happens again.

use crate::concurrently::run_concurrently;
use lbcf_e2e::{Execution, OneClock, is_exhaustive, needs_embedded, sample};
use std::env::current_exe;
use std::fmt::Debug;
use std::io::Write as _;
use std::process::Command;
use std::thread;

const CHAOS: &str = env!("CARGO_BIN_EXE_chaos");

/// What has to be the same: requests, calls, and the log of the controller.
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

fn run(one_clock: &OneClock) -> Execution {
    one_clock
        .output()
        .unwrap_or_else(|problem| panic!("{problem}"))
}

/// Runs a test, which waits for processes, for each of these cases.
async fn for_each<C>(cases: Vec<C>, test: fn(C))
where
    C: Clone + Debug + Send + 'static,
{
    run_concurrently(cases, |case| async move {
        tokio::task::spawn_blocking(move || test(case))
            .await
            .unwrap();
    })
    .await;
}

#[tokio::test]
async fn exhaustive_the_same_seed_gives_the_same_requests_and_calls() {
    if is_skipped() {
        return;
    }
    // With two replicas, with audits, and restored from a backup, among others.
    for_each(sample("seeds that are run twice", 0..10, 2), |seed| {
        let history = OneClock::of_history(seed, CHAOS, &["--log", EVERYTHING]);
        let [first, second] = [run(&history), run(&history)];
        let mut lines = first.output.lines().zip(second.output.lines());
        if let Some((one, other)) = lines.find(|(one, other)| one != other) {
            panic!("{history}:\n{one}\n{other}");
        }
        for part in [
            "user_agent=\"lbcf-controller\"",
            "webhook=\"ensureBackend\"",
        ] {
            assert!(first.output.contains(part), "no {part}: {history}");
        }
        assert_eq!(first, second, "{history}");
    })
    .await;
}

#[test]
fn another_seed_gives_another_execution() {
    if is_skipped() {
        return;
    }
    let of = |seed| OneClock::of(seed, CHAOS, &["--first", "0", "--seeds", "1"]);
    assert_ne!(run(&of(1)).fingerprint, run(&of(2)).fingerprint);
}

#[tokio::test]
async fn exhaustive_tests_run_again_as_they_ran() {
    if is_skipped() {
        return;
    }
    let this = current_exe().unwrap();
    let list = Command::new(this).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let tests = tests.filter(|test| !OTHERS.iter().any(|other| test.contains(other)));
    let some = if is_exhaustive() { 8 } else { 160 };
    for_each(tests.step_by(some).map(str::to_owned).collect(), |test| {
        let arguments = ["--test-threads", "1", "--exact", &test];
        let one_clock = OneClock::of(7, current_exe().unwrap(), &arguments);
        let [first, second] = [run(&one_clock), run(&one_clock)];
        assert_eq!(first.fingerprint, second.fingerprint, "{one_clock}");
    })
    .await;
}

#[tokio::test]
async fn exhaustive_histories_end_as_declared_on_one_clock() {
    if is_skipped() {
        return;
    }
    for_each(sample("histories on one clock", 0..200, 2), |seed| {
        run(&OneClock::of_history(seed, CHAOS, &[]));
    })
    .await;
}
