//! Markdown, as GitHub shows it with a workflow's run.

use super::parts::{about, by_group, driver, duration};
use super::text::{one_line, shown, visible};
use crate::report::{CheckResult, Judging, Outcome, Report, Status};
use std::fmt::Write as _;

/// Above this many bytes failures are named without their details: GitHub drops a step's summary
/// that is longer than 1 MiB, and other steps write there too.
const LIMIT: usize = 512 * 1024;

/// A table of the groups, and each failure to unfold.
pub(super) fn render(report: &Report, judging: Judging) -> String {
    let mut text = String::new();
    head(&mut text, report);
    table(&mut text, report, judging);
    let failed = |result: &&CheckResult| result.status == Status::Failed;
    let failures: Vec<_> = report.results.iter().filter(failed).collect();
    if !failures.is_empty() {
        text.push_str("\n### Failures\n");
    }
    for result in failures {
        if text.len() < LIMIT {
            failure(&mut text, result, judging);
        } else {
            let _ = writeln!(text, "\n- {} {}", inline(&result.id), inline(&result.rule));
        }
    }
    let passes: Vec<String> = report
        .results
        .iter()
        .filter(|result| result.is_unexpected_pass())
        .map(|result| format!("{} is known to fail, but passed", result.id))
        .collect();
    list(&mut text, "Unexpected passes", &passes);
    list(&mut text, "Left behind, please remove", &report.left_behind);
    list(&mut text, "To find out more", &report.hints);
    text
}

fn head(text: &mut String, report: &Report) {
    let summary = &report.summary;
    let (sign, word) = match summary.result {
        Outcome::Success => ("✅", "success"),
        Outcome::Partial => ("🟡", "partial"),
        Outcome::Failure => ("❌", "failure"),
    };
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

fn table(text: &mut String, report: &Report, judging: Judging) {
    let groups = by_group(report);
    if groups.is_empty() {
        text.push_str("No check was made.\n");
        return;
    }
    text.push_str("| | Group | | Passed | Failed | Skipped |\n");
    text.push_str("|---|---|---|---:|---:|---:|\n");
    for (group, results) in groups {
        let count = |status: Status| results.iter().filter(|r| r.status == status).count();
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        let sign = if results.iter().any(|result| judging.fails(result)) {
            "❌"
        } else if failed > 0 {
            "🟡"
        } else if passed > 0 {
            "✅"
        } else {
            "➖"
        };
        let _ = writeln!(
            text,
            "| {sign} | {} | {} | {passed} | {failed} | {} |",
            inline(&group),
            about(&group),
            count(Status::Skipped)
        );
    }
}

fn failure(text: &mut String, result: &CheckResult, judging: Judging) {
    let kind = match &result.known {
        Some(known) => format!(" (known failure: {})", html(&one_line(known))),
        None if judging.fails(result) => String::new(),
        None => " (only a warning)".to_owned(),
    };
    let _ = writeln!(
        text,
        "\n<details>\n<summary><b>{}</b> {} {}{kind}</summary>\n",
        html(&one_line(&result.id)),
        result.level,
        html(&one_line(&result.rule)),
    );
    match &result.failure {
        Some(failure) => {
            for (name, value) in [
                ("expected", &failure.expected),
                ("got", &failure.got),
                ("likely cause", &failure.likely_cause),
            ] {
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
    let _ = writeln!(
        text,
        "\n`lbcf conformance explain {}`\n\n</details>",
        html(&one_line(&result.id))
    );
}

fn list(text: &mut String, title: &str, items: &[String]) {
    for (index, item) in items.iter().enumerate() {
        if index == 0 {
            let _ = writeln!(text, "\n### {title}\n");
        }
        let _ = writeln!(text, "- {}", inline(&shown(item)));
    }
}

/// A block of text as it is, whatever is in it: the fence is longer than any in the text.
fn fenced(text: &mut String, language: &str, content: &str) {
    let fence = "`".repeat(longest_run(content).max(2) + 1);
    let _ = writeln!(text, "\n{fence}{language}\n{}\n{fence}", visible(content));
}

/// A text as code within a line.
fn code(content: &str) -> String {
    let content = one_line(content);
    let fence = "`".repeat(longest_run(&content) + 1);
    format!("{fence} {content} {fence}")
}

fn longest_run(text: &str) -> usize {
    let is_tick = |c: char| c == '`';
    text.split(|c| !is_tick(c)).map(str::len).max().unwrap_or(0)
}

/// A text as HTML shows it.
fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A text in one line that means nothing in Markdown.
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
