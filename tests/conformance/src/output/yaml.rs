//! The document for publication, `--report`, similar to the conformance reports of Gateway API.

use super::parts::features;
use crate::report::{CheckResult, DriverInfo, FailurePolicy, Outcome, Report, Status, Summary};
use serde::{Deserialize, Serialize};

/// A driver's conformance, for publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConformanceReport {
    /// `lbcf.dev/v1`, the version of this format.
    pub api_version: String,
    /// `ConformanceReport`, the kind of this document.
    pub kind: String,
    /// The start of the run.
    pub date: String,
    /// The version of the kit, that of the crate `lbcf-conformance`.
    pub suite_version: String,
    /// The edition of the specification.
    pub spec_version: String,
    /// The driver that was tested, from the fixture's `driver`.
    pub driver: DriverInfo,
    /// The profile that was selected, such as `core`.
    pub mode: String,
    /// The seed of the run.
    pub seed: u64,
    /// Where the fixture came from: a file, or the URL that served it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<String>,
    /// SHA-256 of the fixture, unless the run had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture_digest: Option<String>,
    /// True if an observer verified the driver's cloud.
    pub observer: bool,
    /// The result of the run.
    pub result: Outcome,
    /// The results of each profile.
    pub profiles: Vec<ProfileReport>,
    /// The command line that repeats this run.
    pub reproduce: String,
}

/// The results of one profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileReport {
    /// `core`, `async`, `dryrun` or `pod-deregister`.
    pub name: String,
    /// The result of the profile.
    pub result: Outcome,
    /// The numbers of checks.
    pub statistics: Statistics,
    /// The ids of skipped checks.
    pub skipped_tests: Vec<String>,
    /// The ids of failed checks, including known failures.
    pub failed_tests: Vec<String>,
    /// The declared features of this profile; for `core` all that belong to no other profile.
    pub supported_features: Vec<String>,
}

/// The numbers of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// The number of passed checks.
    pub passed: usize,
    /// The number of failed checks, including known failures.
    pub failed: usize,
    /// The number of skipped checks.
    pub skipped: usize,
}

/// The names, groups and features of the profiles besides `core`.
const EXTENDED: [(&str, &str, &str); 3] = [
    ("async", "ASYN", "async"),
    ("dryrun", "DRY", "dryRun"),
    ("pod-deregister", "JPD", "judgePodDeregister"),
];

pub(super) fn render(
    report: &Report,
    policy: FailurePolicy,
) -> Result<String, serde_saphyr::ser::Error> {
    let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
    serde_saphyr::to_string_with_options(&ConformanceReport::of(report, policy), options)
}

impl ConformanceReport {
    /// Converts the report of a run.
    pub fn of(report: &Report, policy: FailurePolicy) -> Self {
        Self {
            api_version: "lbcf.dev/v1".to_owned(),
            kind: "ConformanceReport".to_owned(),
            date: report.started.clone(),
            suite_version: report.suite_version.clone(),
            spec_version: report.spec_version.clone(),
            driver: report.driver.clone(),
            mode: report.profile.clone(),
            seed: report.seed,
            fixture: report.fixture.clone(),
            fixture_digest: report.fixture_digest.clone(),
            observer: report.observer,
            result: report.summary.result,
            profiles: profiles(report, policy),
            reproduce: report.reproduce.clone(),
        }
    }
}

/// `core`, and the other profiles that apply to the driver.
fn profiles(report: &Report, policy: FailurePolicy) -> Vec<ProfileReport> {
    let all_features = features(report);
    let of_group = |group: &str| EXTENDED.iter().find(|(_, g, _)| *g == group);
    let is_core = |feature: &&&str| EXTENDED.iter().all(|(_, _, other)| other != *feature);
    let core = all_features.iter().filter(is_core);
    let core = core.map(|feature| (*feature).to_owned()).collect();
    let core_results = select(report, |result| of_group(&result.group).is_none());
    let mut profiles = vec![profile("core", &core_results, core, policy)];
    for (name, group, feature) in EXTENDED {
        let results = select(report, |result| result.group == group);
        let applies = |r: &&CheckResult| r.status != Status::Skipped || r.is_open();
        if results.iter().any(applies) {
            let has_feature = all_features.contains(&feature);
            let features = has_feature.then(|| feature.to_owned()).into_iter();
            profiles.push(profile(name, &results, features.collect(), policy));
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
    policy: FailurePolicy,
) -> ProfileReport {
    let summary = Summary::of(results.iter().copied(), policy);
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
