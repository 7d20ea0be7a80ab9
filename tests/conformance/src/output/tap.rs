//! The Test Anything Protocol, version 14.

use super::text::{cut, one_line, shown, visible};
use crate::report::{CheckResult, FailurePolicy, Report, Status};
use serde::Serialize;
use std::fmt::Write as _;

/// The longest text of a diagnostic block, in bytes.
const KEPT: usize = 16 * 1024;

/// A test point for each check.
///
/// A failed check that does not fail the run, such as a known failure or a SHOULD, is a `TODO`, which
/// readers of TAP do not count.
pub(super) fn render(
    report: &Report,
    policy: FailurePolicy,
) -> Result<String, serde_saphyr::ser::Error> {
    let mut tap = format!("TAP version 14\n1..{}", report.results.len());
    if report.results.is_empty() {
        tap.push_str(" # SKIP no checks");
    }
    tap.push('\n');
    for (name, value) in [
        ("driver", &report.driver.url),
        ("reproduce", &report.reproduce),
    ] {
        let _ = writeln!(tap, "# {name}: {}", one_line(value));
    }
    for (index, result) in report.results.iter().enumerate() {
        point(&mut tap, index + 1, result, policy)?;
    }
    for left in &report.left_behind {
        let _ = writeln!(tap, "# left behind: {}", one_line(left));
    }
    for failure in &report.observer_failures {
        let _ = writeln!(tap, "# the observer failed: {}", one_line(failure));
    }
    Ok(tap)
}

fn point(
    tap: &mut String,
    number: usize,
    result: &CheckResult,
    policy: FailurePolicy,
) -> Result<(), serde_saphyr::ser::Error> {
    let fails = policy.fails(result);
    let is_ok = match result.status {
        Status::Passed => !fails,
        Status::Skipped => true,
        Status::Failed => false,
    };
    let name = escaped(&format!("{} {}", result.id, result.rule));
    let status = if is_ok { "ok" } else { "not ok" };
    let _ = write!(tap, "{status} {number} - {name}");
    let directive = match (result.status, &result.known) {
        (Status::Skipped, _) => Some(("SKIP", result.reason.clone())),
        (_, Some(known)) if !fails => Some(("TODO", format!("known failure: {known}"))),
        (Status::Failed, None) if !fails => {
            Some(("TODO", format!("only a warning: {}", result.level)))
        }
        _ => None,
    };
    if let Some((directive, reason)) = directive {
        let _ = write!(tap, " # {directive} {}", escaped(&reason));
    }
    tap.push('\n');
    if !is_ok {
        let block = serde_saphyr::to_string_with_options(&Diagnostic::of(result), options())?;
        tap.push_str("  ---\n");
        for line in block.lines() {
            let _ = writeln!(tap, "  {line}");
        }
        tap.push_str("  ...\n");
    }
    Ok(())
}

/// Escapes a text of a test point: on one line, without directives.
fn escaped(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('#', "\\#")
}

/// Without folding, because readers do not join lines.
fn options() -> serde_saphyr::SerializerOptions {
    serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX }
}

#[derive(Debug, Serialize)]
struct Diagnostic {
    level: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    got: Option<String>,
    #[serde(rename = "likelyCause", skip_serializing_if = "Option::is_none")]
    likely_cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    more: String,
}

impl Diagnostic {
    fn of(result: &CheckResult) -> Self {
        let failure = result.failure.as_ref();
        let long = |text: &String| visible(&cut(text, KEPT)).into_owned();
        Self {
            level: result.level.to_string(),
            message: if result.status == Status::Passed {
                "a known failure passed".to_owned()
            } else {
                shown(&result.reason)
            },
            expected: failure.map(|failure| shown(&failure.expected)),
            got: failure.map(|failure| shown(&failure.got)),
            likely_cause: failure.map(|failure| shown(&failure.likely_cause)),
            request: failure.and_then(|failure| failure.curl.as_ref().map(long)),
            answer: failure.and_then(|failure| failure.answer.as_ref().map(long)),
            more: format!("lbcf conformance explain {}", result.id),
        }
    }
}
