//! The document for publication, `--report`: what a driver's makers show others, in the manner of
//! Gateway API's conformance reports.

use super::parts::features;
use crate::report::{CheckResult, DriverInfo, Judging, Outcome, Report, Status, Summary};
use serde::{Deserialize, Serialize};

/// A driver's conformance, for publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConformanceReport {
    /// `lbcf.dev/v1`.
    pub api_version: String,
    /// `ConformanceReport`.
    pub kind: String,
    /// When the run began.
    pub date: String,
    /// The kit's version.
    pub suite_version: String,
    /// The edition of the specification.
    pub spec_version: String,
    /// Which driver.
    pub driver: DriverInfo,
    /// The profile that was asked for.
    pub mode: String,
    /// The seed.
    pub seed: u64,
    /// SHA-256 of the fixture, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture_digest: Option<String>,
    /// Whether the driver's cloud was looked into, or only answers were judged.
    pub observer: bool,
    /// What it all comes to.
    pub result: Outcome,
    /// The parts of the specification, each for itself.
    pub profiles: Vec<ProfileReport>,
    /// The command line that gives this run again.
    pub reproduce: String,
}

/// How a driver keeps one part of the specification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileReport {
    /// `core`, `async`, `dryrun` or `pod-deregister`.
    pub name: String,
    /// What it comes to.
    pub result: Outcome,
    /// The counts.
    pub statistics: Statistics,
    /// The ids of the checks that were skipped.
    pub skipped_tests: Vec<String>,
    /// The ids of the checks that failed, known failures too.
    pub failed_tests: Vec<String>,
    /// The features that the fixture declares; with `core` all those that no other profile is for.
    pub supported_features: Vec<String>,
}

/// A profile's counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Rules that are kept.
    pub passed: usize,
    /// Rules that are broken.
    pub failed: usize,
    /// Rules that were not found out.
    pub skipped: usize,
}

/// The profiles beside `core`: their names, their groups of checks, and their features.
const EXTENDED: [(&str, &str, &str); 3] = [
    ("async", "ASYN", "async"),
    ("dryrun", "DRY", "dryRun"),
    ("pod-deregister", "JPD", "judgePodDeregister"),
];

pub(super) fn render(
    report: &Report,
    judging: Judging,
) -> Result<String, serde_saphyr::ser::Error> {
    serde_saphyr::to_string_with_options(
        &ConformanceReport::of(report, judging),
        serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX },
    )
}

impl ConformanceReport {
    /// The document of a run.
    #[must_use]
    pub fn of(report: &Report, judging: Judging) -> Self {
        Self {
            api_version: "lbcf.dev/v1".to_owned(),
            kind: "ConformanceReport".to_owned(),
            date: report.started.clone(),
            suite_version: report.suite_version.clone(),
            spec_version: report.spec_version.clone(),
            driver: report.driver.clone(),
            mode: report.profile.clone(),
            seed: report.seed,
            fixture_digest: report.fixture_digest.clone(),
            observer: report.observer,
            result: report.summary.result,
            profiles: profiles(report, judging),
            reproduce: report.reproduce.clone(),
        }
    }
}

/// `core`, and those others of which something concerned the driver.
fn profiles(report: &Report, judging: Judging) -> Vec<ProfileReport> {
    let all_features = features(report);
    let of_group = |group: &str| EXTENDED.iter().find(|(_, g, _)| *g == group);
    let core: Vec<_> = all_features
        .iter()
        .filter(|feature| EXTENDED.iter().all(|(_, _, f)| f != feature))
        .cloned()
        .collect();
    let core_results = select(report, |result| of_group(&result.group).is_none());
    let mut profiles = vec![profile("core", &core_results, core, judging)];
    for (name, group, feature) in EXTENDED {
        let results = select(report, |result| result.group == group);
        if results
            .iter()
            .any(|r| r.status != Status::Skipped || r.is_open())
        {
            let features = all_features.iter().filter(|f| *f == feature).cloned();
            profiles.push(profile(name, &results, features.collect(), judging));
        }
    }
    profiles
}

fn select(report: &Report, which: impl Fn(&CheckResult) -> bool) -> Vec<&CheckResult> {
    report.results.iter().filter(|r| which(r)).collect()
}

fn profile(
    name: &str,
    results: &[&CheckResult],
    supported_features: Vec<String>,
    judging: Judging,
) -> ProfileReport {
    let summary = Summary::over(results, judging);
    let ids = |status: Status| {
        let of_status = results.iter().filter(|result| result.status == status);
        of_status.map(|result| result.id.clone()).collect()
    };
    ProfileReport {
        name: name.to_owned(),
        result: summary.result,
        statistics: Statistics {
            passed: summary.passed,
            failed: summary.failed,
            skipped: summary.skipped,
        },
        skipped_tests: ids(Status::Skipped),
        failed_tests: ids(Status::Failed),
        supported_features,
    }
}
