//! What results come to, and the exit code.

use super::super::{Exit, Report};
use super::*;

fn result(level: Level, status: Status) -> CheckResult {
    CheckResult {
        id: "ENS-01".to_owned(),
        level,
        group: "ENS".to_owned(),
        rule: String::new(),
        status,
        reason: String::new(),
        skip: None,
        response_only: false,
        known: None,
        ms: 0,
        failure: None,
        exchanges: Vec::new(),
    }
}

fn skipped(level: Level, kind: SkipKind) -> CheckResult {
    CheckResult {
        skip: Some(kind),
        ..result(level, Status::Skipped)
    }
}

fn known(level: Level, status: Status) -> CheckResult {
    CheckResult {
        known: Some("why".to_owned()),
        ..result(level, status)
    }
}

fn report(results: Vec<CheckResult>, left_behind: &[&str]) -> Report {
    Report {
        suite_version: String::new(),
        spec_version: String::new(),
        started: String::new(),
        ms: 0,
        driver: super::super::DriverInfo::default(),
        healthz: None,
        seed: 0,
        profile: String::new(),
        observer: false,
        features: Vec::new(),
        fixture: None,
        fixture_digest: None,
        reproduce: String::new(),
        summary: Summary::of(&results, FailurePolicy::default()),
        results,
        interrupted: false,
        unreachable: None,
        observer_failures: Vec::new(),
        left_behind: left_behind.iter().map(|left| (*left).to_owned()).collect(),
        hints: Vec::new(),
    }
}

const LENIENT: FailurePolicy = FailurePolicy {
    should: false,
    partial: false,
    strict_known: false,
};
const STRICT: FailurePolicy = FailurePolicy {
    should: true,
    partial: false,
    strict_known: true,
};

#[test]
fn outcome_and_exit_follow_from_results() {
    use Level::{Must, Should};
    use Outcome::{Failure, Partial, Success};
    use SkipKind::{Asked, BrokenOff, Missing, NotApplicable};
    use Status::{Failed, Passed};
    // One result beside a MUST that passed: lenient outcome and code, strict outcome and code.
    for (other, lenient, strict) in [
        (result(Must, Passed), (Success, 0), (Success, 0)),
        (result(Must, Failed), (Failure, 1), (Failure, 1)),
        (result(Should, Failed), (Success, 0), (Failure, 1)),
        (skipped(Must, NotApplicable), (Success, 0), (Success, 0)),
        (skipped(Must, Missing), (Partial, 0), (Partial, 0)),
        (skipped(Must, Asked), (Partial, 0), (Partial, 0)),
        (skipped(Must, BrokenOff), (Partial, 1), (Partial, 1)),
        (skipped(Should, Missing), (Success, 0), (Success, 0)),
        (skipped(Should, BrokenOff), (Success, 0), (Success, 0)),
        // Skipped for no known reason, by a report of another version.
        (result(Must, Status::Skipped), (Partial, 0), (Partial, 0)),
        (known(Must, Failed), (Partial, 0), (Partial, 0)),
        (known(Should, Failed), (Success, 0), (Success, 0)),
        (known(Must, Passed), (Success, 0), (Failure, 1)),
    ] {
        let name = format!("{other:?}");
        let report = report(vec![result(Must, Passed), other], &[]);
        for (policy, expected) in [(LENIENT, lenient), (STRICT, strict)] {
            let outcome = Summary::of(&report.results, policy).result;
            let exit = Exit::of(&report, policy).code();
            assert_eq!((outcome, exit), expected, "{policy:?} {name}");
        }
    }
}

#[test]
fn nothing_found_out_is_no_success() {
    for results in [vec![], vec![skipped(Level::Must, SkipKind::NotApplicable)]] {
        assert_eq!(Summary::of(&results, LENIENT).result, Outcome::Partial);
    }
}

#[test]
fn counts_are_disjoint() {
    let results = [
        result(Level::Must, Status::Passed),
        known(Level::Must, Status::Passed),
        result(Level::Must, Status::Failed),
        result(Level::Should, Status::Failed),
        known(Level::Must, Status::Failed),
        skipped(Level::Must, SkipKind::Asked),
    ];
    let summary = Summary::of(&results, LENIENT);
    assert_eq!(
        summary,
        Summary {
            passed: 2,
            failed: 3,
            skipped: 1,
            failed_must: 1,
            failed_should: 1,
            known_failures: 1,
            unexpected_passes: 1,
            result: Outcome::Failure,
        }
    );
}

#[test]
fn the_worst_end_wins() {
    let passed = || vec![result(Level::Must, Status::Passed)];
    let failed = || vec![result(Level::Must, Status::Failed)];
    let broken_off = || vec![skipped(Level::Must, SkipKind::BrokenOff)];
    let (no, unreachable, interrupted) = ((false, false), (true, false), (true, true));
    for (results, left, ending, code) in [
        (passed(), &[][..], no, 0),
        (passed(), &["lb"][..], no, 4),
        (failed(), &["lb"][..], no, 1),
        (failed(), &[][..], unreachable, 1),
        (passed(), &["lb"][..], unreachable, 3),
        (broken_off(), &[][..], unreachable, 3),
        (broken_off(), &["lb"][..], no, 1),
        (vec![], &[][..], unreachable, 3),
        (failed(), &["lb"][..], interrupted, 130),
    ] {
        let mut report = report(results, left);
        let (unreachable, interrupted) = ending;
        report.unreachable = unreachable.then(|| "no connection".to_owned());
        report.interrupted = interrupted;
        assert_eq!(Exit::of(&report, LENIENT).code(), code, "{ending:?}");
    }
    assert_eq!(Exit::Usage.code(), 2);
}

#[test]
fn a_must_that_could_not_be_tested_has_an_exit_code_of_its_own() {
    use Level::{Must, Should};
    use SkipKind::{Asked, Missing, NotApplicable};
    use Status::{Failed, Passed};
    let partial = FailurePolicy {
        partial: true,
        ..LENIENT
    };
    for (other, code) in [
        (skipped(Must, Missing), 5),
        (skipped(Must, Asked), 0),
        (known(Must, Failed), 0),
        (skipped(Must, NotApplicable), 0),
        (skipped(Should, Missing), 0),
        (result(Should, Failed), 0),
        (result(Must, Passed), 0),
    ] {
        let report = report(vec![result(Must, Passed), other.clone()], &[]);
        assert_eq!(Exit::of(&report, partial).code(), code, "{other:?}");
        assert_eq!(Exit::of(&report, LENIENT).code(), 0, "{other:?}");
    }
    let nothing = report(Vec::new(), &[]);
    assert_eq!(Exit::of(&nothing, partial).code(), 5);
}

#[test]
fn a_broken_observer_is_no_pass() {
    let mut report = report(
        vec![result(Level::Must, Status::Passed)],
        &["a load balancer"],
    );
    report.observer_failures = vec!["CLB-03: HTTP 500".to_owned()];
    assert_eq!(Exit::of(&report, LENIENT), Exit::Usage);
    report.results.push(result(Level::Must, Status::Failed));
    assert_eq!(Exit::of(&report, LENIENT), Exit::Failed);
}
