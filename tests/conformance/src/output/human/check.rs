//! The lines of a check.

use super::layout::{Page, padded};
use crate::output::parts::duration;
use crate::output::text::{glance, one_line};
use crate::report::{CheckResult, FailurePolicy, Status};

/// The columns of mark, id and level, left of the rule.
const MARGIN: usize = 2 + 2 + 9 + 8;
/// The columns of the time, right of it.
const TIME: usize = 12;

/// Writes mark, id, level, rule and time, and the reason below.
pub(super) fn write(page: &mut Page, result: &CheckResult, policy: FailurePolicy) {
    let paint = page.paint;
    let (mark, word) = match result.status {
        Status::Passed if policy.fails(result) => (paint.bad("✗"), ""),
        Status::Passed => (paint.good("✓"), ""),
        Status::Skipped => (paint.faint("-"), "skipped: "),
        Status::Failed if result.known.is_some() => (paint.doubtful("~"), "known: "),
        Status::Failed if policy.fails(result) => (paint.bad("✗"), ""),
        Status::Failed => (paint.doubtful("!"), ""),
    };
    let columns = page.width.saturating_sub(MARGIN + TIME).max(20);
    let id = padded(&one_line(&result.id), 9);
    let level = padded(&result.level.to_string(), 8);
    let time = if result.status == Status::Skipped {
        String::new()
    } else {
        duration(result.ms)
    };
    let rule = page.fit(&one_line(&result.rule), columns);
    let mut lines = rule.iter();
    let first = padded(lines.next().map_or("", String::as_str), columns);
    let time = paint.faint(format!("{time:>TIME$}"));
    page.line(format!("  {mark} {id}{level}{first}{time}").trim_end());
    let margin = " ".repeat(MARGIN);
    for line in lines {
        page.line(format!("{margin}{line}"));
    }
    let reason = reason(result);
    if !reason.is_empty() {
        page.wrapped(&margin, &margin, &format!("{word}{reason}"), |p, line| {
            if policy.fails(result) {
                p.bad(line)
            } else {
                p.faint(line)
            }
        });
    }
}

fn reason(result: &CheckResult) -> String {
    let reason = glance(&result.reason);
    match (&result.known, result.status) {
        (Some(known), Status::Passed) => {
            format!(
                "passed, although listed as a known failure: {}",
                glance(known)
            )
        }
        (Some(known), Status::Failed) => glance(known),
        _ if reason.is_empty() && result.response_only => "only responses were verified".to_owned(),
        _ => reason,
    }
}
