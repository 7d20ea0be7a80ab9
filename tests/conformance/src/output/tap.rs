//! The Test Anything Protocol, version 14.

use super::text::{cut, one_line, shown, visible};
use crate::report::{CheckResult, Judging, Report, Status};
use serde::Serialize;
use std::fmt::Write as _;

/// How much of one text a diagnostic block has, in bytes.
const KEPT: usize = 16 * 1024;

/// The version, the plan, a test point for each check.
///
/// A failed check that does not fail the run is a `TODO`, which TAP's readers do not count: a
/// known failure, or a SHOULD.
pub(super) fn render(
    report: &Report,
    judging: Judging,
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
        point(&mut tap, index + 1, result, judging)?;
    }
    for left in &report.left_behind {
        let _ = writeln!(tap, "# left behind: {}", one_line(left));
    }
    Ok(tap)
}

fn point(
    tap: &mut String,
    number: usize,
    result: &CheckResult,
    judging: Judging,
) -> Result<(), serde_saphyr::ser::Error> {
    let fails = judging.fails(result);
    let is_ok = match result.status {
        Status::Passed => !fails,
        Status::Skipped => true,
        Status::Failed => false,
    };
    let name = escaped(&format!("{} {}", result.id, result.rule));
    let verdict = if is_ok { "ok" } else { "not ok" };
    let _ = write!(tap, "{verdict} {number} - {name}");
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

/// A text in a test point: one line, in which `#` begins no directive.
fn escaped(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('#', "\\#")
}

/// No folding: readers take lines as they stand.
fn options() -> serde_saphyr::SerializerOptions {
    serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX }
}

/// What is told of a failure.
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
