//! Builds the report from the finished checks.

use crate::check::Check;
use crate::outcome::{CheckError, CheckOutcome, Failure};
use crate::report::{Announcement, CheckResult, FailureReport, Report, SkipKind, Status, Summary};
use crate::run::{Run, StopReason};
use crate::settings::Profile;
use lbcf_driver_sdk::webhook::HealthzResponse;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct FinishedCheck {
    pub(crate) check: &'static Check,
    pub(crate) outcome: CheckOutcome,
    pub(crate) notes: Vec<String>,
    pub(crate) response_only: bool,
    pub(crate) took: Duration,
    /// The driver's output meanwhile, if the kit started it and the check failed.
    pub(crate) written: String,
}

impl FinishedCheck {
    pub(super) fn skipped(check: &'static Check, kind: SkipKind, reason: String) -> Self {
        Self {
            check,
            outcome: Err(CheckError::NotRun(kind, reason)),
            notes: Vec::new(),
            response_only: false,
            took: Duration::ZERO,
            written: String::new(),
        }
    }

    /// True if others may be skipped because of it. A check that the user excluded is no evidence
    /// about the driver.
    const fn did_not_pass(&self) -> bool {
        !matches!(
            self.outcome,
            Ok(()) | Err(CheckError::NotRun(SkipKind::Asked, _))
        )
    }
}

pub(super) fn report(
    run: &Run,
    mut finished: Vec<FinishedCheck>,
    left_behind: Vec<String>,
    started: String,
    took: Duration,
) -> Report {
    let index = |id: &str| crate::checks::all().position(|check| check.id == id);
    finished.sort_by_key(|finished| index(finished.check.id));
    let failed = finished.iter().filter(|finished| finished.did_not_pass());
    let failed: Vec<&str> = failed.map(|finished| finished.check.id).collect();
    let results = finished.iter();
    let results = results.map(|finished| result_given(run, finished, &failed));
    let results: Vec<CheckResult> = results.collect();
    let stopped = run.stopped();
    let url = run.transport.url_of("");
    let profile = run.settings.profile.map_or("fixture", Profile::name);
    Report {
        suite_version: env!("CARGO_PKG_VERSION").to_owned(),
        spec_version: crate::SPECIFICATION.to_owned(),
        started,
        ms: millis(took),
        driver: crate::report::DriverInfo {
            url,
            ..run.fixture.driver.clone()
        },
        healthz: announcement(run),
        seed: run.settings.seed,
        profile: profile.to_owned(),
        observer: run.observer.is_some(),
        features: run.features.iter().copied().collect(),
        fixture: run.fixture.source.clone(),
        fixture_digest: run.fixture.digest.clone(),
        reproduce: String::new(),
        summary: Summary::of(&results, run.settings.policy),
        hints: hints(run, &results),
        results,
        left_behind,
        interrupted: stopped == Some(StopReason::Interrupted),
        unreachable: stopped.as_ref().and_then(StopReason::unreachable),
        observer_failures: run.observer_failures(),
    }
}

/// The version and the features in the last valid response to `healthz`.
fn announcement(run: &Run) -> Option<Announcement> {
    let healthz: HealthzResponse = run.record.all().iter().rev().find_map(|exchange| {
        let is_healthz = exchange.webhook == Some("healthz");
        let received = exchange.outcome.as_ref().ok().filter(|_| is_healthz)?;
        serde_json::from_slice(&received.body).ok()
    })?;
    Some(Announcement {
        specification: healthz.specification,
        features: healthz.features,
    })
}

/// The result of a check, before the results of all others are known.
pub(super) fn result(run: &Run, finished: &FinishedCheck) -> CheckResult {
    result_given(run, finished, &run.failed_prerequisites())
}

/// The result of a check, when those with the ids in `failed` did not pass.
fn result_given(run: &Run, finished: &FinishedCheck, failed: &[&str]) -> CheckResult {
    let check = finished.check;
    let mut result = CheckResult {
        id: check.id.to_owned(),
        level: check.level,
        group: check.group.id().to_owned(),
        rule: check.rule.to_owned(),
        status: Status::Passed,
        reason: finished.notes.join("; "),
        skip: None,
        response_only: finished.response_only,
        known: None,
        ms: millis(finished.took),
        failure: None,
        exchanges: Vec::new(),
    };
    complete(&mut result, finished, failed);
    result.reason = shortened(result.reason);
    if result.status != Status::Skipped {
        // A known failure that passes is reported, so that it is removed from the list.
        result.known = run.fixture.known_failures.get(check.id).cloned();
    }
    if result.status == Status::Failed || run.settings.verbose {
        let exchanges = run.record.of(check.id);
        let exchanges = exchanges.iter().map(|exchange| (&**exchange).into());
        result.exchanges = exchanges.collect();
    }
    result
}

/// Completes the result of a check that passed by its outcome.
fn complete(result: &mut CheckResult, finished: &FinishedCheck, failed: &[&str]) {
    let mut skip = |kind: SkipKind, reason: String| {
        result.status = Status::Skipped;
        result.skip = Some(kind);
        result.reason = reason;
        result.response_only = false;
    };
    match &finished.outcome {
        Err(CheckError::NotRun(kind, reason)) => skip(*kind, reason.clone()),
        Err(CheckError::Skipped(reason)) => skip(SkipKind::Missing, reason.clone()),
        Err(CheckError::Blocked { by, failure, .. }) if failed.contains(by) => {
            let reason = format!("depends on {by}: {}", failure.got);
            skip(SkipKind::Missing, reason);
        }
        Ok(()) if result.response_only => {
            let without = "only responses were verified, without an observer";
            result.reason = format!("{without}; {}", result.reason);
            result.reason = result.reason.trim_end_matches("; ").to_owned();
        }
        Ok(()) => {}
        Err(error) => {
            if let Some(mut failure) = shown(error) {
                failure.expected = shortened(failure.expected);
                failure.got = shortened(failure.got);
                result.status = Status::Failed;
                result.reason = format!("expected {}; got {}", failure.expected, failure.got);
                let mut report = FailureReport::of(&failure, finished.check.typical);
                report.driver_wrote.clone_from(&finished.written);
                result.failure = Some(report);
            }
        }
    }
}

/// The failure as people see it. The typical cause of a check would mislead where a step before its
/// subject failed.
fn shown(error: &CheckError) -> Option<Box<Failure>> {
    match error {
        CheckError::Skipped(_) | CheckError::NotRun(..) => None,
        CheckError::Blocked {
            by,
            failure,
            is_setup,
        } if *is_setup => {
            let mut failure = failure.clone();
            failure.expected = format!("in the setup: {}", failure.expected);
            let hint = failure.hint.take().unwrap_or_default();
            let hint = format!(
                "This step comes before what the check is about. {by} tests it and did not fail in this run, so it fails now and then, or only besides other calls. {hint}"
            );
            failure.hint = Some(hint.trim_end().to_owned());
            Some(failure)
        }
        CheckError::Blocked { failure, .. } | CheckError::Failed(failure) => Some(failure.clone()),
    }
}

/// Cuts a text, because responses of drivers may be long.
fn shortened(text: String) -> String {
    const LONGEST: usize = 2000;
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}… (cut, {} bytes)", &text[..end], text.len()),
    }
}

/// The changes to the fixture or the command line that would run more checks.
fn hints(run: &Run, results: &[CheckResult]) -> Vec<String> {
    let mut hints = Vec::new();
    let missing = |what: &str| {
        let needed = results.iter().filter(|r| r.skip == Some(SkipKind::Missing));
        needed.filter(|result| result.reason.contains(what)).count()
    };
    let by_observer = missing("observer");
    let response_only = results.iter().filter(|result| result.response_only).count();
    if run.observer.is_none() && by_observer + response_only > 0 {
        hints.push(format!(
            "an observer (--observe-url, --observe-cmd or `observe` in the fixture) would add {by_observer} checks, and let {response_only} more verify the cloud"
        ));
    }
    let by_fixture = missing("in the fixture");
    if by_fixture > 0 {
        hints.push(format!(
            "a more complete fixture would add {by_fixture} checks, see the reasons above; `lbcf conformance init` writes a first one"
        ));
    }
    if run.fixture.features.is_none() {
        let is_optional = |r: &&CheckResult| r.skip == Some(SkipKind::NotApplicable);
        let optional = results.iter().filter(is_optional).count();
        if optional > 0 {
            hints.push(format!(
                "`features` in the fixture (async, dryRun, judgePodDeregister, listBackends, backend.service, …) would add up to {optional} checks"
            ));
        }
    }
    hints
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("é".repeat(2000)), "é".repeat(2000));
        let cut = shortened("é".repeat(2001));
        assert_eq!(cut, format!("{}… (cut, 4002 bytes)", "é".repeat(2000)));
    }
}
