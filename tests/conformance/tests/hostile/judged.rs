//! A run of the whole kit against a server, with short timeouts.

use super::server::Server;
use lbcf_conformance::fixture::Fixture;
use lbcf_conformance::report::{CheckResult, Exit, FailurePolicy, Report, SkipKind, Status};
use lbcf_conformance::settings::Settings;
use lbcf_conformance::{Suite, SuiteError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Every feature and every sample, so that all checks without an observer run.
const FIXTURE: &str = r#"
features: [async, dryRun, judgePodDeregister, listBackends, backend.pod, backend.service, backend.endpoint, backend.static, update.attributes, update.parameters]
loadBalancer:
  valid: [{lbSpec: {vpc: vpc-1, name: "{{unique}}"}, attributes: {bandwidth: "1"}}]
  invalid: [{lbSpec: {}}]
  update: {attributes: {bandwidth: "2"}, forbidden: [{attributes: {charge: prepaid}}]}
  unknownLBInfo: {lbID: lb-doesnotexist}
backend:
  parameters: {valid: [{weight: "50"}], invalid: [{weight: "-1"}], update: {weight: "80"}}
"#;

/// More than any run takes, even on a busy machine.
const BOUND: Duration = Duration::from_secs(300);

pub(super) fn settings() -> Settings {
    Settings {
        timeout: Some(Duration::from_millis(300)),
        async_budget: Some(Duration::from_secs(1)),
        wait: Duration::from_secs(1),
        ..Settings::default()
    }
}

/// The result of a run.
pub(super) struct FinishedCheck {
    pub(super) outcome: Result<Report, SuiteError>,
    pub(super) took: Duration,
}

/// Runs the whole kit. Fails when it does not end.
pub(super) async fn judged(server: &Server) -> FinishedCheck {
    judged_with(server, settings()).await
}

/// Runs the whole kit on a server that always responds, and gives it as much time as a busy machine needs.
pub(super) async fn judged_responsive(server: &Server) -> FinishedCheck {
    let timeout = Some(Duration::from_secs(60));
    judged_with(
        server,
        Settings {
            timeout,
            ..settings()
        },
    )
    .await
}

pub(super) async fn judged_with(server: &Server, settings: Settings) -> FinishedCheck {
    let fixture = Fixture::parse(FIXTURE, Path::new("hostile.yaml"), &[]).unwrap();
    let suite = Suite::of_url(&server.url).unwrap();
    let suite = suite.fixture(fixture).settings(settings);
    let began = Instant::now();
    let outcome = tokio::time::timeout(BOUND, suite.run()).await;
    let took = began.elapsed();
    let outcome = outcome.unwrap_or_else(|_| panic!("the kit still runs after {took:?}"));
    FinishedCheck { outcome, took }
}

impl FinishedCheck {
    /// The driver was unreachable, for this reason.
    pub(super) fn is_unreachable(&self, reason: &str) {
        match &self.outcome {
            Err(error @ SuiteError::Unreachable { .. }) => {
                let text = error.to_string();
                assert!(text.contains(reason), "{text}");
            }
            Err(error) => panic!("{error}"),
            Ok(report) => panic!("a report: {:?}", report.summary),
        }
    }

    /// Requires a report with exit code 1 and a reason in every result.
    pub(super) fn failed(&self) -> &Report {
        let report = match &self.outcome {
            Ok(report) => report,
            Err(error) => panic!("{error}"),
        };
        let exit = Exit::of(report, FailurePolicy::default());
        assert_eq!(exit, Exit::Failed, "{:?}", report.summary);
        for result in &report.results {
            assert!(
                !result.reason.contains("a mistake in the kit"),
                "{}",
                result.id
            );
            if result.status != Status::Passed {
                assert!(!result.reason.is_empty(), "{}", result.id);
            }
            if result.status == Status::Failed {
                let failure = result.failure.as_ref().unwrap();
                assert!(!failure.expected.is_empty() && !failure.got.is_empty());
                assert!(!failure.likely_cause.is_empty(), "{}", result.id);
            }
        }
        report
    }
}

/// The result of a check.
pub(super) fn result<'a>(report: &'a Report, id: &str) -> &'a CheckResult {
    let mut results = report.results.iter();
    results.find(|result| result.id == id).unwrap()
}

/// Requires that a check failed with a reason that contains this text.
pub(super) fn assert_failed(report: &Report, id: &str, words: &str) {
    let result = result(report, id);
    assert_eq!(result.status, Status::Failed, "{id}: {}", result.reason);
    assert!(result.reason.contains(words), "{id}: {}", result.reason);
}

/// The checks that did not run or finish because the run was stopped.
pub(super) fn broken_off(report: &Report) -> Vec<&CheckResult> {
    let results = report.results.iter();
    results
        .filter(|result| result.skip == Some(SkipKind::BrokenOff))
        .collect()
}
