//! The document for publication, `--output report=FILE`, similar to the conformance reports of Gateway API.

use super::parts::features;
use super::text::glance;
use crate::classification::Level;
use crate::report::{
    Announcement, CheckResult, DriverInfo, FailurePolicy, Outcome, Report, SkipKind, Status,
    Summary,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A driver's conformance, for publication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConformanceReport {
    /// The version of this format.
    pub api_version: ReportVersion,
    /// The kind of this document.
    pub kind: ReportKind,
    /// The start of the run, such as `2026-01-31T12:00:00Z`.
    #[schemars(extend("format" = "date-time"))]
    pub date: String,
    /// The version of the kit, that of the crate `lbcf-conformance`.
    pub suite_version: String,
    /// The tested version of the specification.
    pub spec_version: String,
    /// The driver that was tested, from the fixture's `driver`.
    pub driver: DriverInfo,
    /// The version and the features that the driver names itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthz: Option<Announcement>,
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
    /// The numbers of checks of all profiles.
    pub summary: Summary,
    /// The results of each profile.
    pub profiles: Vec<ProfileReport>,
    /// The results by the ids of the rules, which are those of their checks, such as `ENS-02`.
    pub results: BTreeMap<String, RuleResult>,
    /// The command line that repeats this run.
    pub reproduce: String,
}

/// The version of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReportVersion {
    /// The only one so far.
    #[serde(rename = "lbcf.dev/v1")]
    V1,
}

/// The kind of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReportKind {
    /// A report for publication.
    ConformanceReport,
}

/// The results of one profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileReport {
    /// `core`, `async`, `dryrun` or `pod-deregister`.
    pub name: String,
    /// The result of the profile.
    pub result: Outcome,
    /// The numbers of checks.
    pub statistics: Summary,
    /// The ids of skipped checks.
    pub skipped_tests: Vec<String>,
    /// The ids of failed checks, including known failures.
    pub failed_tests: Vec<String>,
    /// The declared features of this profile; for `core` all that belong to no other profile.
    pub supported_features: Vec<String>,
}

/// The result of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleResult {
    /// The level of the rule: MUST or SHOULD.
    pub level: Level,
    /// The outcome of the check: passed, failed or skipped.
    pub result: Status,
    /// Why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<SkipKind>,
    /// Why it failed or was skipped, or a remark about a pass, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The names, groups and features of the profiles; `core` has all other groups and features, too.
const PROFILES: [(&str, &str, &str); 4] = [
    ("core", "", ""),
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
            api_version: ReportVersion::V1,
            kind: ReportKind::ConformanceReport,
            date: report.started.clone(),
            suite_version: report.suite_version.clone(),
            spec_version: report.spec_version.clone(),
            driver: report.driver.clone(),
            healthz: report.healthz.clone(),
            mode: report.profile.clone(),
            seed: report.seed,
            fixture: report.fixture.clone(),
            fixture_digest: report.fixture_digest.clone(),
            observer: report.observer,
            result: report.summary.result,
            summary: report.summary,
            profiles: profiles(report, policy),
            results: report.results.iter().map(by_rule).collect(),
            reproduce: report.reproduce.clone(),
        }
    }
}

fn by_rule(result: &CheckResult) -> (String, RuleResult) {
    let rule = RuleResult {
        level: result.level,
        result: result.status,
        skip: result.skip,
        reason: glance(&result.reason),
    };
    (result.id.clone(), rule)
}

/// `core`, and the other profiles that apply to the driver.
fn profiles(report: &Report, policy: FailurePolicy) -> Vec<ProfileReport> {
    let profiles = PROFILES.iter().filter_map(|(name, ..)| {
        let is_of_profile = |result: &&CheckResult| profile_of(&result.group) == *name;
        let results: Vec<_> = report.results.iter().filter(is_of_profile).collect();
        let applies = |r: &&CheckResult| r.status != Status::Skipped || r.is_open();
        if *name != "core" && !results.iter().any(applies) {
            return None;
        }
        let summary = Summary::of(results.iter().copied(), policy);
        let ids = |status: Status| {
            let of_status = results.iter().filter(|result| result.status == status);
            of_status.map(|result| result.id.clone()).collect()
        };
        let features = features(report).into_iter();
        let supported = features.filter(|feature| profile_of(feature) == *name);
        Some(ProfileReport {
            name: (*name).to_owned(),
            result: summary.result,
            statistics: summary,
            skipped_tests: ids(Status::Skipped),
            failed_tests: ids(Status::Failed),
            supported_features: supported.map(str::to_owned).collect(),
        })
    });
    profiles.collect()
}

/// The profile with this group or feature.
fn profile_of(name: &str) -> &'static str {
    let mut profiles = PROFILES.iter();
    let profile = profiles.find(|(_, group, feature)| [*group, *feature].contains(&name));
    profile.map_or("core", |(profile, ..)| profile)
}
