//! The end of the report: lists of what needs action, and the summary.

use super::layout::{Page, plain};
use crate::classification::Level;
use crate::output::parts::duration;
use crate::output::text::{one_line, shown};
use crate::report::{CheckResult, FailurePolicy, Outcome, Report};

/// Writes the lists that are not empty, and the summary.
pub(super) fn write(page: &mut Page, report: &Report, policy: FailurePolicy) {
    list(
        page,
        "Left behind, please remove",
        report.left_behind.iter().map(|left| shown(left)),
    );
    list(
        page,
        "The observer failed: these were not tested to the end",
        report
            .observer_failures
            .iter()
            .map(|failure| shown(failure)),
    );
    list(
        page,
        "Known failures",
        named(report, CheckResult::is_known_failure),
    );
    list(
        page,
        "Known failures that passed: remove them from the list",
        named(report, CheckResult::is_unexpected_pass),
    );
    list(
        page,
        "To run more checks",
        report.hints.iter().map(|hint| shown(hint)),
    );
    page.gap();
    let outcome = report.summary.result;
    page.wrapped("", "  ", &summary(report), |paint, line| match outcome {
        Outcome::Success => paint.good(line),
        Outcome::Partial => paint.doubtful(line),
        Outcome::Failure => paint.bad(line),
    });
    if outcome != Outcome::Success || report.results.iter().any(|result| policy.fails(result)) {
        // On one line, for copying.
        let again = page.paint.faint("again:");
        page.line(format!("{again} {}", one_line(&report.reproduce)));
    }
}

fn named(report: &Report, which: impl Fn(&CheckResult) -> bool) -> impl Iterator<Item = String> {
    report
        .results
        .iter()
        .filter(move |result| which(result))
        .map(|result| {
            let reason = result.known.as_deref().unwrap_or_default();
            format!("{}: {}", result.id, shown(reason))
        })
}

fn list(page: &mut Page, title: &str, items: impl Iterator<Item = String>) {
    for (index, item) in items.enumerate() {
        if index == 0 {
            page.title(title);
        }
        page.wrapped("  - ", "    ", &item, plain);
    }
}

/// Such as `failure in 12.3 s: 41 passed, 2 failed (1 MUST, 1 SHOULD), 66 skipped`.
fn summary(report: &Report) -> String {
    let summary = &report.summary;
    let kinds: Vec<String> = [
        (summary.failed_must, "MUST"),
        (summary.failed_should, "SHOULD"),
        (summary.known_failures, "known"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, kind)| format!("{count} {kind}"))
    .collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!(" ({})", kinds.join(", "))
    };
    let open = report
        .results
        .iter()
        .filter(|result| result.level == Level::Must && result.is_open())
        .count();
    let open = match open {
        0 => String::new(),
        open => format!(" ({open} MUST not tested)"),
    };
    let outcome = match summary.result {
        Outcome::Success => "success",
        Outcome::Partial => "partial",
        Outcome::Failure => "failure",
    };
    let observer = match report.observer_failures.len() {
        0 => String::new(),
        1 => "; the observer failed in 1 check".to_owned(),
        count => format!("; the observer failed in {count} checks"),
    };
    format!(
        "{outcome} in {}: {} passed, {} failed{kinds}, {} skipped{open}{observer}",
        duration(report.ms),
        summary.passed,
        summary.failed,
        summary.skipped
    )
}
