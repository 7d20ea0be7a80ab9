//! Markdown for the summary of a GitHub workflow.

use super::parts::{about, by_group, driver, duration, html};
use super::text::{one_line, shown, visible};
use crate::report::{CheckResult, FailurePolicy, Outcome, Report, Status};
use std::fmt::Write as _;

/// Beyond this many bytes failures have no details: GitHub drops a summary above 1 MiB, and other
/// steps write to it, too.
const LIMIT: usize = 512 * 1024;

/// A table of the groups, and collapsed failures.
pub(super) fn render(report: &Report, policy: FailurePolicy) -> String {
    let mut text = String::new();
    head(&mut text, report);
    table(&mut text, report, policy);
    let failed = |result: &&CheckResult| result.status == Status::Failed;
    let failures: Vec<_> = report.results.iter().filter(failed).collect();
    if !failures.is_empty() {
        text.push_str("\n### Failures\n");
    }
    for result in failures {
        if text.len() < LIMIT {
            failure(&mut text, result, policy);
        } else {
            let _ = writeln!(text, "\n- {} {}", inline(&result.id), inline(&result.rule));
        }
    }
    let passes = report.results.iter().filter(|r| r.is_unexpected_pass());
    let passes = passes.map(|r| format!("{} is listed as a known failure, but passed", r.id));
    let passes: Vec<String> = passes.collect();
    list(&mut text, "Unexpected passes", &passes);
    list(&mut text, "Left behind, please remove", &report.left_behind);
    list(&mut text, "The observer failed", &report.observer_failures);
    list(&mut text, "To run more checks", &report.hints);
    text
}

fn head(text: &mut String, report: &Report) {
    let summary = &report.summary;
    let sign = match summary.result {
        Outcome::Success => "✅",
        Outcome::Partial => "🟡",
        Outcome::Failure => "❌",
    };
    let word = summary.result.name();
    let _ = writeln!(text, "## {sign} LBCF conformance: {word}\n");
    let (name, url) = driver(report);
    let _ = writeln!(
        text,
        "{} {}: {} passed, {} failed, {} skipped in {}; profile {}, kit {}, specification {}, seed {}.\n",
        inline(&name),
        code(url),
        summary.passed,
        summary.failed,
        summary.skipped,
        duration(report.ms),
        inline(&report.profile),
        inline(&report.suite_version),
        inline(&report.spec_version),
        report.seed
    );
}

fn table(text: &mut String, report: &Report, policy: FailurePolicy) {
    let groups = by_group(report);
    if groups.is_empty() {
        text.push_str("No check ran.\n");
        return;
    }
    text.push_str("| | Group | | Passed | Failed | Skipped |\n");
    text.push_str("|---|---|---|---:|---:|---:|\n");
    for (group, results) in groups {
        let count = |status: Status| results.iter().filter(|r| r.status == status).count();
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        let sign = if results.iter().any(|result| policy.fails(result)) {
            "❌"
        } else if failed > 0 {
            "🟡"
        } else if passed > 0 {
            "✅"
        } else {
            "➖"
        };
        let (id, about, skipped) = (inline(&group), about(&group), count(Status::Skipped));
        let _ = writeln!(
            text,
            "| {sign} | {id} | {about} | {passed} | {failed} | {skipped} |"
        );
    }
}

fn failure(text: &mut String, result: &CheckResult, policy: FailurePolicy) {
    let kind = match &result.known {
        Some(known) => format!(" (known failure: {})", html(&one_line(known))),
        None if policy.fails(result) => String::new(),
        None => " (only a warning)".to_owned(),
    };
    let (id, rule) = (html(&one_line(&result.id)), html(&one_line(&result.rule)));
    let title = format!("<b>{id}</b> {} {rule}{kind}", result.level);
    let _ = writeln!(text, "\n<details>\n<summary>{title}</summary>\n");
    match &result.failure {
        Some(failure) => {
            for (name, value) in failure.texts() {
                let _ = writeln!(text, "- {name}: {}", inline(&shown(value)));
            }
            if let Some(curl) = &failure.curl {
                fenced(text, "sh", curl);
            }
            if let Some(answer) = &failure.answer {
                fenced(text, "http", answer);
            }
        }
        None => {
            let _ = writeln!(text, "- {}", inline(&shown(&result.reason)));
        }
    }
    let _ = writeln!(text, "\n`lbcf conformance explain {id}`\n\n</details>");
}

fn list(text: &mut String, title: &str, items: &[String]) {
    for (index, item) in items.iter().enumerate() {
        if index == 0 {
            let _ = writeln!(text, "\n### {title}\n");
        }
        let _ = writeln!(text, "- {}", inline(&shown(item)));
    }
}

/// A code block, with a fence that is longer than any in the text.
fn fenced(text: &mut String, language: &str, content: &str) {
    let fence = "`".repeat(longest_run(content).max(2) + 1);
    let _ = writeln!(text, "\n{fence}{language}\n{}\n{fence}", visible(content));
}

fn code(content: &str) -> String {
    let content = one_line(content);
    let fence = "`".repeat(longest_run(&content) + 1);
    format!("{fence} {content} {fence}")
}

fn longest_run(text: &str) -> usize {
    let is_tick = |c: char| c == '`';
    text.split(|c| !is_tick(c)).map(str::len).max().unwrap_or(0)
}

/// Escapes Markdown, on one line.
fn inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in html(&one_line(text)).chars() {
        if "\\`*_[]#|~@".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_not_left_by_texts() {
        assert_eq!(inline("a|b\n<b>*x*"), "a\\|b &lt;b&gt;\\*x\\*");
        assert_eq!(code("a`b"), "`` a`b ``");
        let mut text = String::new();
        fenced(&mut text, "sh", "```\n</details>");
        assert_eq!(text, "\n````sh\n```\n</details>\n````\n");
    }
}
