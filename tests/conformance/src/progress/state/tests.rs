//! The texts of the progress.

use super::*;
use crate::check::Level;
use crate::report::SkipKind;

fn result(id: &str, status: Status) -> CheckResult {
    CheckResult {
        id: id.to_owned(),
        level: Level::Must,
        group: "ENS".to_owned(),
        rule: String::new(),
        status,
        reason: "because\nof".to_owned(),
        skip: (status == Status::Skipped).then_some(SkipKind::Missing),
        response_only: false,
        known: None,
        ms: 3,
        failure: None,
        exchanges: Vec::new(),
    }
}

const PLAIN: Paint = Paint { on: false };

#[test]
fn the_line_tells_how_far_and_what_runs() {
    let mut state = State::new(3);
    assert_eq!(state.line(80, PLAIN), "0/3");
    state.start("ENS-01");
    state.start("ENS-02");
    assert_eq!(state.line(80, PLAIN), "0/3: ENS-01 ENS-02");
    state.finish(&result("ENS-01", Status::Failed), FailurePolicy::default());
    assert_eq!(state.line(80, PLAIN), "1/3, 1 failed: ENS-02");
    // Skipped without having been started; and more than were announced.
    state.finish(&result("ENS-03", Status::Skipped), FailurePolicy::default());
    state.finish(&result("ENS-02", Status::Passed), FailurePolicy::default());
    state.finish(&result("ENS-02", Status::Passed), FailurePolicy::default());
    assert_eq!(state.line(80, PLAIN), "4/4, 1 failed");
}

#[test]
fn the_line_fits() {
    let mut state = State::new(109);
    for number in 1..=50 {
        state.start(&format!("WIRE-{number:02}"));
    }
    for width in [10, 11, 20, 21, 22, 23, 79] {
        let line = state.line(width, PLAIN);
        assert!(line.chars().count() <= width, "{width}: {line}");
        assert!(line.ends_with('…') && line.starts_with("0/109:"), "{line}");
    }
}

#[test]
fn finished_checks_are_one_line() {
    for (status, text) in [
        (Status::Passed, "passed  ENS-01 MUST (3 ms): because of"),
        (Status::Failed, "failed  ENS-01 MUST (3 ms): because of"),
        (Status::Skipped, "skipped ENS-01 MUST (3 ms): because of"),
    ] {
        let line = finished(&result("ENS-01", status), FailurePolicy::default(), PLAIN);
        assert_eq!(line, text);
    }
    let mut known = result("ENS-01", Status::Failed);
    known.known = Some("ACME-1".to_owned());
    assert!(finished(&known, FailurePolicy::default(), PLAIN).starts_with("known "));
    known.known = None;
    known.level = Level::Should;
    assert!(finished(&known, FailurePolicy::default(), PLAIN).starts_with("warning "));
}
