//! Workflow commands for GitHub's annotations.

use super::text::{one_line, shown};
use crate::report::{CheckResult, FailurePolicy, Report, Status};
use std::fmt::Write as _;

/// An error for each check that fails the run, and for a broken observer; a warning for other failures and for resources that
/// are left behind.
pub(super) fn render(report: &Report, policy: FailurePolicy) -> String {
    let mut text = String::new();
    for result in &report.results {
        let Some(message) = message(result) else {
            continue;
        };
        let fails = policy.fails(result);
        let command = if fails { "error" } else { "warning" };
        let title = format!("{} {}: {}", result.id, result.level, one_line(&result.rule));
        line(&mut text, command, &title, &message);
    }
    for left in &report.left_behind {
        line(&mut text, "warning", "Left behind", &shown(left));
    }
    for failure in &report.observer_failures {
        line(&mut text, "error", "The observer failed", &shown(failure));
    }
    text
}

fn message(result: &CheckResult) -> Option<String> {
    let known = result.known.as_deref().map(one_line);
    let mut message = match (result.status, &known) {
        (Status::Passed, Some(known)) => return Some(format!("known failure ({known}) passed")),
        (Status::Passed | Status::Skipped, _) => return None,
        (Status::Failed, Some(known)) => format!("known failure: {known}\n"),
        (Status::Failed, None) => String::new(),
    };
    match &result.failure {
        Some(failure) => {
            for (name, text) in failure.texts() {
                let _ = writeln!(message, "{name}: {}", shown(text));
            }
        }
        None => message += &(shown(&result.reason) + "\n"),
    }
    let id = &result.id;
    Some(format!("{message}more: lbcf conformance explain {id}"))
}

fn line(text: &mut String, command: &str, title: &str, message: &str) {
    let (title, message) = (property(title), data(message));
    let _ = writeln!(text, "::{command} title={title}::{message}");
}

/// Escapes line breaks and `%`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Also escapes the delimiters of properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn github_lines_cannot_be_left() {
        assert_eq!(data("100%\r\n::error::x"), "100%25%0D%0A::error::x");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
