//! The full text of a failure.

use super::layout::{Page, padded, plain};
use crate::output::text::{one_line, shown, visible};
use crate::report::{CheckResult, FailurePolicy, FailureReport};

/// The columns of the names left of the texts.
const MARGIN: usize = 16;

/// Writes the rule, the expectation, the observed behaviour, the request and its response.
pub(super) fn write(page: &mut Page, result: &CheckResult, policy: FailurePolicy) {
    let title = format!("{} {}  {}", result.id, result.level, result.rule);
    let counts = policy.fails(result);
    page.wrapped("", "  ", &one_line(&title), |paint, line| {
        if counts {
            paint.bad(line)
        } else {
            paint.doubtful(line)
        }
    });
    match &result.failure {
        Some(failure) => parts(page, failure),
        None => part(page, "got", &shown(&result.reason)),
    }
    part(
        page,
        "more",
        &format!("lbcf conformance explain {}", one_line(&result.id)),
    );
}

fn parts(page: &mut Page, failure: &FailureReport) {
    part(page, "expected", &shown(&failure.expected));
    part(page, "got", &shown(&failure.got));
    part(page, "likely cause", &shown(&failure.likely_cause));
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
    let name = page.paint.faint(padded(name, MARGIN - 2));
    page.wrapped(&format!("  {name}"), &" ".repeat(MARGIN), text, plain);
}
