//! The formats keep their syntax and all texts, as far as this can be tested without their parsers.

use super::samples;
use lbcf_conformance::output::{ConformanceReport, Format, ReportKind, Show, render};
use lbcf_conformance::report::{FailurePolicy, Outcome, Report};
use quick_junit::TestCaseStatus;

fn text(report: &Report, format: Format) -> String {
    render(report, format, &Show::default()).unwrap()
}

#[test]
fn junit_has_a_case_for_each_check() {
    for (name, report) in samples::all() {
        let xml = text(&report, Format::Junit);
        let forbidden = |c: char| {
            c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{fffe}' | '\u{ffff}')
        };
        assert!(!xml.contains(forbidden), "{name}");
        let read = quick_junit::Report::deserialize_from_str(&xml).unwrap();
        assert_eq!(read.tests, report.results.len(), "{name}");
        let cases = read.test_suites.iter().flat_map(|suite| &suite.test_cases);
        let is_failure = |case: &&quick_junit::TestCase| {
            matches!(case.status, TestCaseStatus::NonSuccess { .. })
        };
        let fails = report
            .results
            .iter()
            .filter(|r| FailurePolicy::default().fails(r));
        assert_eq!(cases.filter(is_failure).count(), fails.count(), "{name}");
    }
    let xml = text(&samples::nasty(), Format::Junit);
    assert!(xml.contains("]]&gt; &lt;b&gt;&amp;amp;"));
}

#[test]
fn junit_tells_levels_and_reasons() {
    let xml = text(&samples::sample(), Format::Junit);
    for part in [
        "<testsuite name=\"DLB\" tests=\"2\" errors=\"0\" failures=\"0\"",
        "<property name=\"level.DLB-05\" value=\"SHOULD\"/>",
        "<property name=\"features\" value=\"async,backend.pod\"/>",
        "<property name=\"spec\" value=\"1\"/>",
        "classname=\"lbcf.conformance.WIRE\"",
        "<skipped message=\"needs loadBalancer.invalid in the fixture\"/>",
        "<skipped message=\"warning, SHOULD failed: HTTP 500\" type=\"SHOULD\">",
        "<skipped message=\"known failure (ACME-12, to be done in v1.5): status &quot;Fail&quot;, msg &quot;no such load balancer&quot;\"",
        "<failure message=\"createLoadBalancer: minRetryDelayInSeconds is &quot;5&quot; (3 of 1612",
    ] {
        assert!(xml.contains(part), "{part}\n{xml}");
    }
}

#[test]
fn github_lines_are_commands() {
    for (name, report) in samples::all() {
        for line in text(&report, Format::Github).lines() {
            let is_command =
                line.starts_with("::error title=") || line.starts_with("::warning title=");
            assert!(is_command, "{name}: {line}");
            let title = line.split_once('=').unwrap().1.split("::").next().unwrap();
            assert!(!title.contains([':', ',']), "{name}: {title}");
        }
    }
}

#[test]
fn markdown_blocks_are_closed() {
    for (name, report) in samples::all() {
        let markdown = text(&report, Format::Markdown);
        let mut fence: Option<String> = None;
        let mut details = 0_i32;
        for line in markdown.lines() {
            let ticks: String = line.chars().take_while(|c| *c == '`').collect();
            match &fence {
                Some(open) if line == open => fence = None,
                Some(_) => {}
                None if ticks.len() >= 3 => fence = Some(ticks),
                None if line == "<details>" => details += 1,
                None if line == "</details>" => details -= 1,
                None => {}
            }
        }
        assert_eq!((fence, details), (None, 0), "{name}");
    }
}

#[test]
fn yaml_reads_back_as_it_was() {
    for (name, report) in samples::all() {
        let yaml = text(&report, Format::Report);
        let read: ConformanceReport = serde_saphyr::from_str(&yaml).unwrap();
        assert_eq!(
            read,
            ConformanceReport::of(&report, FailurePolicy::default()),
            "{name}"
        );
    }
}

#[test]
fn yaml_parts_profiles() {
    let read = ConformanceReport::of(&samples::sample(), FailurePolicy::default());
    assert_eq!(read.kind, ReportKind::ConformanceReport);
    let names: Vec<_> = read.profiles.iter().map(|p| p.name.as_str()).collect();
    // This driver does not implement judgePodDeregister.
    assert_eq!(names, ["core", "async"]);
    let [core, asynchronous] = &read.profiles[..] else {
        panic!("{names:?}")
    };
    assert_eq!(core.result, Outcome::Failure);
    assert_eq!(core.failed_tests, ["WIRE-04", "DLB-05", "DLB-03"]);
    assert_eq!(core.skipped_tests, ["CLB-05"]);
    assert_eq!(core.supported_features, ["backend.pod"]);
    assert_eq!(asynchronous.result, Outcome::Success);
    assert_eq!(asynchronous.supported_features, ["async"]);
}
