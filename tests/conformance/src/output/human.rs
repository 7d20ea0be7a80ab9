//! The report for people: the checks by group, the failures in full, hints, and one summary line.

pub(crate) mod layout;

use super::Paint;
use super::causes::causes;
use super::format::Show;
use super::parts::{about, by_group, driver, duration};
use super::text::{glance, one_line, shown, visible};
use crate::classification::Level;
use crate::report::{
    CheckResult, Exit, FailurePolicy, FailureReport, Outcome, Report, SkipKind, Status, Summary,
};
use layout::{Page, padded, plain};

pub(super) fn render(report: &Report, show: &Show) -> String {
    let mut page = Page::new(show.width, Paint { on: show.color });
    head(&mut page, report);
    for (group, mut results) in by_group(report) {
        // Excluded checks are not worth a line.
        results.retain(|result| result.skip != Some(SkipKind::Asked));
        if results.is_empty() {
            continue;
        }
        page.gap();
        let id = page.paint.strong(&one_line(&group));
        page.line(format!("{id}  {}", about(&group)).trim_end());
        for result in results {
            check(&mut page, result, show.policy);
        }
    }
    for (index, (cause, ids)) in causes(report).into_iter().enumerate() {
        if index == 0 {
            page.title("Causes");
        }
        let text = format!("{} checks: {}", ids.len(), shown(&cause));
        page.wrapped("  - ", "    ", &text, plain);
        page.wrapped("    ", "    ", &one_line(&ids.join(", ")), Paint::faint);
    }
    let failures = report.results.iter();
    let failures = failures.filter(|r| r.status == Status::Failed && r.known.is_none());
    for (index, result) in failures.enumerate() {
        match index {
            0 => page.title("Failures"),
            _ => page.gap(),
        }
        failure(&mut page, result, show.policy);
    }
    ending(&mut page, report, show.policy);
    page.text
}

fn head(page: &mut Page, report: &Report) {
    let (name, url) = driver(report);
    let at = if name.is_empty() { "" } else { " at " };
    let title = format!("LBCF conformance of {name}{at}{url}");
    page.wrapped("", "  ", &one_line(&title), Paint::strong);
    let observer = if report.observer { "with an" } else { "no" };
    let facts = [
        format!("kit {}", report.suite_version),
        format!("specification {}", report.spec_version),
        format!("profile {}", report.profile),
        format!("seed {}", report.seed),
        match &report.fixture_digest {
            Some(digest) => {
                let digest: String = digest.chars().take(12).collect();
                let source = report.fixture.iter().map(|source| format!(" {source}"));
                format!("fixture{} {digest}", source.collect::<String>())
            }
            None => "no fixture".to_owned(),
        },
        format!("{observer} observer"),
    ];
    page.wrapped("", "", &one_line(&facts.join(", ")), Paint::faint);
}

/// The columns of mark, id and level, left of the rule.
const RULE_MARGIN: usize = 2 + 2 + 9 + 8;
/// The columns of the time, right of it.
const TIME: usize = 12;

/// Writes mark, id, level, rule and time, and the reason below.
fn check(page: &mut Page, result: &CheckResult, policy: FailurePolicy) {
    let paint = page.paint;
    let (mark, word) = match result.status {
        Status::Passed if policy.fails(result) => (paint.bad("✗"), ""),
        Status::Passed => (paint.good("✓"), ""),
        Status::Skipped => (paint.faint("-"), "skipped: "),
        Status::Failed if result.known.is_some() => (paint.doubtful("~"), "known: "),
        Status::Failed if policy.fails(result) => (paint.bad("✗"), ""),
        Status::Failed => (paint.doubtful("!"), ""),
    };
    let columns = page.width.saturating_sub(RULE_MARGIN + TIME).max(20);
    let id = padded(&one_line(&result.id), 9);
    let level = padded(&result.level.to_string(), 8);
    let time = match result.status {
        Status::Skipped => String::new(),
        Status::Passed | Status::Failed => duration(result.ms),
    };
    let rule = page.fit(&one_line(&result.rule), columns);
    let mut lines = rule.iter();
    let first = padded(lines.next().map_or("", String::as_str), columns);
    let time = paint.faint(&format!("{time:>TIME$}"));
    page.line(format!("  {mark} {id}{level}{first}{time}").trim_end());
    let margin = " ".repeat(RULE_MARGIN);
    for line in lines {
        page.line(format!("{margin}{line}"));
    }
    let reason = reason(result);
    if !reason.is_empty() {
        let fails = policy.fails(result);
        let painted = if fails { Paint::bad } else { Paint::faint };
        page.wrapped(&margin, &margin, &format!("{word}{reason}"), painted);
    }
}

fn reason(result: &CheckResult) -> String {
    let reason = glance(&result.reason);
    match (&result.known, result.status) {
        (Some(known), Status::Passed) => {
            let known = glance(known);
            format!("passed, although listed as a known failure: {known}")
        }
        (Some(known), Status::Failed) => glance(known),
        _ if reason.is_empty() && result.response_only => "only responses were verified".to_owned(),
        _ => reason,
    }
}

/// The columns of the names left of the texts.
const TEXT_MARGIN: usize = 16;

/// Writes the rule, the expectation, the observed behaviour, the request and its response.
fn failure(page: &mut Page, result: &CheckResult, policy: FailurePolicy) {
    let title = format!("{} {}  {}", result.id, result.level, result.rule);
    let fails = policy.fails(result);
    let painted = if fails { Paint::bad } else { Paint::doubtful };
    page.wrapped("", "  ", &one_line(&title), painted);
    match &result.failure {
        Some(failure) => failure_parts(page, failure),
        None => part(page, "got", &shown(&result.reason)),
    }
    let id = one_line(&result.id);
    part(page, "more", &format!("lbcf conformance explain {id}"));
}

fn failure_parts(page: &mut Page, failure: &FailureReport) {
    for (name, text) in failure.texts() {
        part(page, name, &shown(text));
    }
    if let Some(curl) = &failure.curl {
        // Without wrapping, for copying.
        name(page, "request");
        for line in visible(curl).lines() {
            page.line(format!("    {line}"));
        }
    }
    if let Some(answer) = &failure.answer {
        name(page, "response");
        // A blank line separates headers and body.
        for line in visible(answer).lines() {
            if line.is_empty() {
                page.gap();
            } else {
                page.wrapped("    ", "    ", line, plain);
            }
        }
    }
}

fn name(page: &mut Page, name: &str) {
    let name = page.paint.faint(name);
    page.line(format!("  {name}"));
}

fn part(page: &mut Page, name: &str, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let name = page.paint.faint(&padded(name, TEXT_MARGIN - 2));
    page.wrapped(&format!("  {name}"), &" ".repeat(TEXT_MARGIN), text, plain);
}

/// Writes the lists that are not empty, and the summary.
fn ending(page: &mut Page, report: &Report, policy: FailurePolicy) {
    let failures = report.observer_failures.clone();
    let known = named(report, CheckResult::is_known_failure);
    let passed = named(report, CheckResult::is_unexpected_pass);
    let lists = [
        ("Left behind, please remove", report.left_behind.clone()),
        (
            "The observer failed: these were not tested to the end",
            failures,
        ),
        ("Known failures", known),
        (
            "Known failures that passed: remove them from the list",
            passed,
        ),
        ("To run more checks", report.hints.clone()),
    ];
    for (title, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
        page.title(title);
        for item in items {
            page.wrapped("  - ", "    ", &shown(&item), plain);
        }
    }
    page.gap();
    let outcome = report.summary.result;
    let painted = match outcome {
        Outcome::Success => Paint::good,
        Outcome::Partial => Paint::doubtful,
        Outcome::Failure => Paint::bad,
    };
    if outcome != Outcome::Success || report.results.iter().any(|result| policy.fails(result)) {
        // On one line, for copying.
        let again = page.paint.faint("again:");
        page.line(format!("{again} {}", one_line(&report.reproduce)));
    }
    // The last line, as it is the one that is read.
    page.wrapped("", "  ", &summary(report, policy), painted);
}

fn named(report: &Report, which: impl Fn(&CheckResult) -> bool) -> Vec<String> {
    let results = report.results.iter().filter(|result| which(result));
    let line = |result: &CheckResult| {
        let reason = result.known.as_deref().unwrap_or_default();
        format!("{}: {reason}", result.id)
    };
    results.map(line).collect()
}

/// Such as `failure in 12.3 s: 41 passed, 2 failed (1 MUST, 1 SHOULD), 66 skipped`.
fn summary(report: &Report, policy: FailurePolicy) -> String {
    let summary = &report.summary;
    let kinds = [
        (summary.failed_must, "MUST"),
        (summary.failed_should, "SHOULD"),
        (summary.known_failures, "known"),
    ];
    let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
    let kinds = kinds.map(|(count, kind)| format!("{count} {kind}"));
    let kinds = match kinds.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        kinds => format!(" ({kinds})"),
    };
    let is_open = |result: &&CheckResult| result.level == Level::Must && result.is_open();
    let open = match report.results.iter().filter(is_open).count() {
        0 => String::new(),
        open => format!(" ({open} MUST not tested)"),
    };
    let is_partial = Exit::of(report, policy) == Exit::Partial;
    let code = if is_partial {
        "; exit code 5, unless --allow-partial"
    } else {
        ""
    };
    let outcome = summary.result.name();
    let observer = match report.observer_failures.len() {
        0 => String::new(),
        1 => "; the observer failed in 1 check".to_owned(),
        count => format!("; the observer failed in {count} checks"),
    };
    let Summary {
        passed,
        failed,
        skipped,
        ..
    } = summary;
    format!(
        "{outcome} in {}: {passed} passed, {failed} failed{kinds}, {skipped} skipped{open}{observer}{code}",
        duration(report.ms)
    )
}
