//! From what checks came to, to the report.

use super::{Over, Run, lock};
use crate::check::Check;
use crate::report::{
    CheckResult, ExchangeReport, FailureReport, Report, SkipKind, Status, Summary,
};
use crate::verdict::{NotPassed, Verdict};
use std::time::Duration;

/// What a check came to.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) check: &'static Check,
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<String>,
    pub(crate) by_answers: bool,
    pub(crate) took: Duration,
}

/// Whether a check was made.
#[derive(Debug)]
pub(crate) enum Outcome {
    Made(Verdict),
    NotMade(SkipKind, String),
}

/// When a run was.
#[derive(Debug)]
pub(crate) struct Times {
    pub(crate) started: String,
    pub(crate) took: Duration,
}

impl Judged {
    pub(super) fn skipped(check: &'static Check, kind: SkipKind, reason: String) -> Self {
        Self {
            check,
            outcome: Outcome::NotMade(kind, reason),
            notes: Vec::new(),
            by_answers: false,
            took: Duration::ZERO,
        }
    }

    /// Whether it is known that what the check is about cannot be had; of a check that nobody asked
    /// for it is not.
    const fn did_not_pass(&self) -> bool {
        match &self.outcome {
            Outcome::Made(verdict) => verdict.is_err(),
            Outcome::NotMade(kind, _) => !matches!(kind, SkipKind::Asked),
        }
    }
}

/// The whole report.
pub(super) fn report(
    run: &Run,
    mut judged: Vec<Judged>,
    left_behind: Vec<String>,
    times: Times,
) -> Report {
    let place = |id: &str| crate::checks::all().position(|check| check.id == id);
    judged.sort_by_key(|judged| place(judged.check.id));
    let failed: Vec<&str> = judged
        .iter()
        .filter(|judged| judged.did_not_pass())
        .map(|judged| judged.check.id)
        .collect();
    let results: Vec<CheckResult> = judged
        .iter()
        .map(|judged| result_knowing(run, judged, &failed))
        .collect();
    let over = lock(&run.over).clone();
    let url = run.transport.url_of("");
    let profile = run
        .settings
        .profile
        .map_or("fixture", |profile| profile.name());
    Report {
        suite_version: env!("CARGO_PKG_VERSION").to_owned(),
        spec_version: crate::SPECIFICATION.to_owned(),
        started: times.started,
        ms: millis(times.took),
        driver: crate::report::DriverInfo {
            url,
            ..run.fixture.driver.clone()
        },
        seed: run.settings.seed,
        profile: profile.to_owned(),
        observer: run.observer.is_some(),
        features: run.features.iter().copied().collect(),
        fixture_digest: run.fixture.digest.clone(),
        reproduce: String::new(),
        summary: Summary::of(&results, run.settings.judging),
        hints: hints(run, &results),
        results,
        left_behind,
        interrupted: over == Some(Over::Interrupted),
        unreachable: over.as_ref().and_then(Over::unreachable),
    }
}

/// What a check came to, before it is known what others come to.
pub(super) fn result(run: &Run, judged: &Judged) -> CheckResult {
    let failed: Vec<&str> = lock(&run.basis)
        .iter()
        .filter(|(_, passed)| !**passed)
        .map(|(id, _)| *id)
        .collect();
    result_knowing(run, judged, &failed)
}

fn result_knowing(run: &Run, judged: &Judged, failed: &[&str]) -> CheckResult {
    let Judged {
        check,
        outcome,
        notes,
        by_answers,
        took,
    } = judged;
    let mut result = CheckResult {
        id: check.id.to_owned(),
        level: check.level,
        group: check.group.id().to_owned(),
        rule: check.rule.to_owned(),
        status: Status::Passed,
        reason: notes.join("; "),
        skip: None,
        response_only: *by_answers,
        known: None,
        ms: millis(*took),
        failure: None,
        exchanges: Vec::new(),
    };
    let mut skip = |kind: SkipKind, reason: String| {
        result.status = Status::Skipped;
        result.skip = Some(kind);
        result.reason = reason;
        result.response_only = false;
    };
    match outcome {
        Outcome::NotMade(kind, reason) => skip(*kind, reason.clone()),
        Outcome::Made(Ok(())) => {
            if *by_answers {
                let without = "only answers were judged, for want of an observer";
                result.reason = [without.to_owned(), result.reason].join("; ");
                result.reason = result.reason.trim_end_matches("; ").to_owned();
            }
        }
        Outcome::Made(Err(NotPassed::Skipped(reason))) => skip(SkipKind::Missing, reason.clone()),
        Outcome::Made(Err(NotPassed::Blocked { by, failure })) if failed.contains(by) => {
            skip(
                SkipKind::Missing,
                format!("needs what {by} is about: {}", failure.got),
            );
        }
        Outcome::Made(Err(NotPassed::Blocked { failure, .. } | NotPassed::Failed(failure))) => {
            let mut failure = failure.clone();
            failure.expected = shortened(failure.expected);
            failure.got = shortened(failure.got);
            result.status = Status::Failed;
            result.reason = format!("expected {}; got {}", failure.expected, failure.got);
            result.failure = Some(FailureReport::of(&failure, check.typical));
            result.known = run.fixture.known_failures.get(check.id).cloned();
        }
    }
    result.reason = shortened(result.reason);
    if result.status == Status::Passed {
        // One that was known to fail and passes is told, so that it is struck from the list.
        result.known = run.fixture.known_failures.get(check.id).cloned();
    }
    if result.status == Status::Failed || run.settings.verbose {
        let exchanges = run.record.of(check.id);
        result.exchanges = exchanges
            .iter()
            .map(|e| ExchangeReport::from(&**e))
            .collect();
    }
    result
}

/// A text as it can be read: what a driver says may be long.
fn shortened(text: String) -> String {
    const LONGEST: usize = 2000;
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}… (cut, {} bytes)", &text[..end], text.len()),
    }
}

/// What a fixture, an observer or a flag would add.
fn hints(run: &Run, results: &[CheckResult]) -> Vec<String> {
    let means = run.means();
    let mut hints = Vec::new();
    let missing = |what: &str| {
        results
            .iter()
            .filter(|result| result.skip == Some(SkipKind::Missing) && result.reason.contains(what))
            .count()
    };
    let by_observer = missing("observer");
    let response_only = results.iter().filter(|result| result.response_only).count();
    if !means.observer && by_observer + response_only > 0 {
        hints.push(format!(
            "an observer (--observe-url, --observe-cmd or `observe` in the fixture) would add {by_observer} checks, and have {response_only} more look into the cloud"
        ));
    }
    let by_fixture = missing("in the fixture");
    if by_fixture > 0 {
        hints.push(format!(
            "more in the fixture would add {by_fixture} checks: the reasons above say what; `lbcf conformance init` writes one to begin with"
        ));
    }
    if run.fixture.features.is_none() {
        let optional = results
            .iter()
            .filter(|r| r.skip == Some(SkipKind::NotApplicable))
            .count();
        if optional > 0 {
            hints.push(format!(
                "`features` in the fixture (async, dryRun, judgePodDeregister, backend.service, …) would add up to {optional} checks"
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
