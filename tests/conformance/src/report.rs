//! What a run came to, as a document: the JSON that `--output json=…` writes.

mod exit;
mod judging;

pub use exit::{Ending, Exit};
pub use judging::{FailOn, Judging};

use crate::check::{Feature, Level};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The kit's version.
    pub suite_version: String,
    /// The edition of the specification that was judged by.
    pub spec_version: String,
    /// When it began, such as `2026-01-31T12:00:00Z`.
    #[schemars(extend("format" = "date-time"))]
    pub started: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Which driver.
    pub driver: DriverInfo,
    /// What the run's names and orders follow from: the same seed, the same run.
    pub seed: u64,
    /// The profile: `core`, `async`, `dryrun`, `pod-deregister` or `all`.
    pub profile: String,
    /// Whether there was an observer.
    pub observer: bool,
    /// The features that the fixture declares.
    pub features: Vec<Feature>,
    /// SHA-256 of the fixture, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture_digest: Option<String>,
    /// The command line that gives this run again.
    pub reproduce: String,
    /// One result for each check, in the order of `lbcf conformance list`.
    pub results: Vec<CheckResult>,
    /// The counts.
    pub summary: Summary,
    /// What could not be cleaned up, for people to remove.
    pub left_behind: Vec<String>,
    /// Whether somebody ended the run before it was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Why the driver was given up, if it stopped answering during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// What a fixture, an observer or a flag would add.
    pub hints: Vec<String>,
}

/// Which driver was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DriverInfo {
    /// Who makes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organization: String,
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// Its version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Where it is at home.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub homepage: String,
    /// Whom to ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<String>,
    /// Where it was called, without user and password.
    pub url: String,
}

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The rule is kept.
    Passed,
    /// It is broken.
    Failed,
    /// It was not found out.
    Skipped,
}

/// Why a check was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SkipKind {
    /// It does not concern the driver: a feature that the fixture does not declare, or a profile.
    NotApplicable,
    /// The fixture or an observer would be needed.
    Missing,
    /// Somebody asked for it: `--only`, `--skip`, `--fail-fast`.
    Asked,
    /// It could not be finished: time was up, or the driver was gone.
    BrokenOff,
}

/// One check's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// The check's id.
    pub id: String,
    /// How much it matters.
    pub level: Level,
    /// The group's id, such as `ENS`.
    pub group: String,
    /// The rule, in one sentence.
    pub rule: String,
    /// What became of it.
    pub status: Status,
    /// Why it failed or was skipped, in one line; or what a pass does not show.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<SkipKind>,
    /// Whether only answers were judged, for want of an observer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub response_only: bool,
    /// Whether the failure is one of `knownFailures`; its reason stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureReport>,
    /// The exchanges: those of failed checks, or of all with `--verbose`.
    #[serde(default)]
    pub exchanges: Vec<ExchangeReport>,
}

/// How a check failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureReport {
    /// What was expected.
    pub expected: String,
    /// What came instead.
    pub got: String,
    /// What is likely behind it.
    pub likely_cause: String,
    /// The request that shows it, as a curl command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
    /// The answer to it, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeReport {
    /// Its place among all exchanges of the run.
    pub sequence: u64,
    /// The method.
    pub method: String,
    /// The URL, without user and password.
    pub url: String,
    /// The request's headers, without secrets.
    pub request_headers: BTreeMap<String, String>,
    /// The request's body, as text; cut where it is long.
    pub request_body: String,
    /// Whether something was cut from the request's body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub request_cut: bool,
    /// The status code, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The answer's headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub response_headers: BTreeMap<String, String>,
    /// The answer's body, as text; cut where it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<String>,
    /// Whether something was cut from the answer's body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub response_cut: bool,
    /// Why there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// The counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Rules that are kept.
    pub passed: usize,
    /// Rules that are broken, known failures included.
    pub failed: usize,
    /// Rules that were not found out.
    pub skipped: usize,
    /// Failed checks of the level MUST that are not known failures.
    pub failed_must: usize,
    /// Failed checks of the level SHOULD that are not known failures.
    pub failed_should: usize,
    /// Failures that the fixture or `--known-failures` names.
    pub known_failures: usize,
    /// Known failures that passed.
    pub unexpected_passes: usize,
    /// What it all comes to.
    pub result: Outcome,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Every MUST that concerns the driver passed.
    Success,
    /// None failed, but some could not be found out.
    Partial,
    /// Some failed.
    Failure,
}
