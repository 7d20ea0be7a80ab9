//! JUnit XML by the schema of Jenkins (`junit-10.xsd`), which most readers of such files support.
//!
//! That schema has properties of suites only, so the levels of checks are properties of their suite.

use super::parts::{by_group, features};
use super::text::{cut, one_line, visible};
use crate::report::{CheckResult, FailurePolicy, Report, Status};
use quick_junit::{NonSuccessKind, Property, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write as _;
use std::time::Duration;

/// The longest text of a failure, in bytes.
const KEPT: usize = 64 * 1024;

/// A suite for each group with results, a case for each check.
pub(super) fn render(report: &Report, policy: FailurePolicy) -> Result<String, SerializeError> {
    let mut document = quick_junit::Report::new("lbcf conformance");
    document.set_time(Duration::from_millis(report.ms));
    for (group, results) in by_group(report) {
        document.add_test_suite(suite(report, &group, &results, policy));
    }
    let xml = document.to_string()?;
    // The schema no longer has this attribute, and the writer cannot omit it. Quotes in texts are
    // escaped, so this only matches markup.
    Ok(xml.replace(" disabled=\"0\" errors=", " errors="))
}

fn suite(
    report: &Report,
    group: &str,
    results: &[&CheckResult],
    policy: FailurePolicy,
) -> TestSuite {
    let mut suite = TestSuite::new(one_line(group));
    for (name, value) in [
        ("suite", report.suite_version.as_str()),
        ("spec", &report.spec_version),
        ("driver", &report.driver.url),
        ("profile", &report.profile),
        ("features", &features(report).join(",")),
        ("seed", &report.seed.to_string()),
    ] {
        suite.add_property(Property::new(name, one_line(value)));
    }
    for failure in &report.observer_failures {
        suite.add_property(Property::new("observerFailure", one_line(failure)));
    }
    for result in results {
        let name = format!("level.{}", one_line(&result.id));
        suite.add_property(Property::new(name, result.level.to_string()));
        suite.add_test_case(case(result, policy));
    }
    // The writer uses a name for their count that the schema does not have.
    suite.disabled = 0;
    let is_skipped = |case: &&TestCase| matches!(case.status, TestCaseStatus::Skipped { .. });
    let skipped = suite.test_cases.iter().filter(is_skipped).count();
    let extra = [
        ("skipped", skipped.to_string()),
        ("timestamp", report.started.clone()),
    ];
    for (name, value) in extra {
        suite.extra.insert(name.into(), one_line(&value).into());
    }
    let times = results.iter().map(|result| result.ms);
    suite.set_time(Duration::from_millis(times.fold(0, u64::saturating_add)));
    suite
}

fn case(result: &CheckResult, policy: FailurePolicy) -> TestCase {
    let reason = one_line(&result.reason);
    let failure = || TestCaseStatus::non_success(NonSuccessKind::Failure);
    let (mut status, message) = match (result.status, policy.fails(result)) {
        (Status::Passed, false) => (TestCaseStatus::success(), reason),
        (Status::Passed, true) => {
            let message = "known failure passed: remove it from the list";
            (failure(), message.to_owned())
        }
        (Status::Skipped, _) => (TestCaseStatus::skipped(), reason),
        (Status::Failed, true) => (failure(), reason),
        (Status::Failed, false) => {
            let message = match &result.known {
                Some(known) => format!("known failure ({}): {reason}", one_line(known)),
                None => format!("warning, {} failed: {reason}", result.level),
            };
            // JUnit has no warnings; skipped is neither green nor red.
            (TestCaseStatus::skipped(), message)
        }
    };
    // One that succeeds has none.
    status.set_message(message);
    if result.status == Status::Failed {
        status.set_type(result.level.to_string());
        status.set_description(cut(&text(result), KEPT));
    }
    let mut case = TestCase::new(one_line(&format!("{} {}", result.id, result.rule)), status);
    case.set_classname(format!("lbcf.conformance.{}", one_line(&result.group)));
    case.set_time(Duration::from_millis(result.ms));
    if let (Status::Passed, Some(known)) = (result.status, &result.known) {
        let text = format!("known failure ({}) passed", one_line(known));
        case.set_system_out(text);
    }
    case
}

fn text(result: &CheckResult) -> String {
    let rule = visible(&result.rule);
    let mut text = format!("{} {}: {rule}\n", result.id, result.level);
    if let Some(failure) = &result.failure {
        for (name, value) in failure.texts() {
            let _ = writeln!(text, "{name}: {}", visible(value));
        }
        for (name, value) in [("request", &failure.curl), ("response", &failure.answer)] {
            if let Some(value) = value {
                let _ = writeln!(text, "\n{name}:\n{}", visible(value));
            }
        }
    } else {
        let _ = writeln!(text, "{}", visible(&result.reason));
    }
    let _ = write!(text, "\nmore: lbcf conformance explain {}", result.id);
    text
}
