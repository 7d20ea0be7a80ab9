//! The kit against the mock, in process.

#![allow(clippy::unwrap_used, clippy::panic)] // Clippy sees tests in `#[test]` functions only, not in their helpers.

mod wrong;

use lbcf_conformance::Suite;
use lbcf_conformance::report::{Exit, FailurePolicy, SkipKind, Status};
use lbcf_conformance::settings::Settings;
use mock_driver::{ClbDriver, Cloud, MockOptions};
use std::time::Duration;

const FIXTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../mock-driver/conformance.yaml"
);

/// The mock with operations that take some time.
fn mock() -> Suite {
    let options = MockOptions {
        stage_duration: Duration::from_millis(20),
        // They would be whole seconds.
        name_delays: false,
        ..MockOptions::default()
    };
    let router = mock_driver::router(ClbDriver::new(Cloud::with_samples(), options));
    Suite::of_router(router).fixture_file(FIXTURE).unwrap()
}

/// The output of a run, without times.
fn result_lines(report: &lbcf_conformance::report::Report) -> Vec<String> {
    let results = report.results.iter();
    results
        .map(|result| format!("{} {:?} {}", result.id, result.status, result.reason))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conforming_driver_passes_everything() {
    let report = mock().run().await.unwrap();
    for result in &report.results {
        let is_right = match result.status {
            Status::Passed => !result.response_only,
            Status::Failed => false,
            // JPD-04 applies only to drivers without that webhook.
            Status::Skipped => result.id == "JPD-04",
        };
        assert!(
            is_right,
            "{} {:?} {}",
            result.id, result.status, result.reason
        );
    }
    assert_eq!(report.left_behind, [""; 0]);
    assert_eq!(report.hints, [""; 0]);
    let healthz = report.healthz.clone().unwrap();
    assert_eq!(healthz.specification, lbcf_conformance::SPECIFICATION);
    assert_eq!(healthz.features, ["batches", "cancel", "pages", "reasons"]);
    let exit = Exit::of(&report, FailurePolicy::default());
    assert_eq!(exit, Exit::Passed);
    let again = mock().run().await.unwrap();
    assert_eq!(
        result_lines(&report),
        result_lines(&again),
        "the same seed, the same results"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_group_can_run_alone() {
    for group in ["BAD-05", "LAT", "LIFE", "WIRE"] {
        let settings = Settings {
            only: vec![group.to_owned()],
            ..Settings::default()
        };
        let report = mock().settings(settings).run().await.unwrap();
        let made: Vec<_> = report
            .results
            .iter()
            .filter(|result| result.skip != Some(SkipKind::Asked))
            .collect();
        assert!(!made.is_empty());
        for result in made {
            assert_eq!(
                result.status,
                Status::Passed,
                "{}: {}",
                result.id,
                result.reason
            );
        }
        assert_eq!(report.left_behind, [""; 0]);
    }
}
