//! One failure in full.

use super::layout::{Page, padded, plain};
use crate::output::text::{one_line, shown, visible};
use crate::report::{CheckResult, FailureReport, Judging};

/// The margin that the names of a failure's parts stand in.
const MARGIN: usize = 16;

/// Writes the rule, what was expected and what came, the request and its answer.
pub(super) fn write(page: &mut Page, result: &CheckResult, judging: Judging) {
    let title = format!("{} {}  {}", result.id, result.level, result.rule);
    let counts = judging.fails(result);
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
        // As it is, however wide: it is there to be copied.
        name(page, "request");
        for line in visible(curl).lines() {
            page.line(format!("    {line}"));
        }
    }
    if let Some(answer) = &failure.answer {
        name(page, "answer");
        // A blank line comes as one: it parts headers from body.
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
