//! The report of a run: the JSON document of `--output json=…`.

mod policy;

pub use policy::{Exit, FailOn, FailurePolicy};

use crate::classification::{Feature, Level, named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of the kit, that of the crate `lbcf-conformance`.
    pub suite_version: String,
    /// The tested version of the specification.
    pub spec_version: String,
    /// The start of the run, such as `2026-01-31T12:00:00Z`.
    #[schemars(extend("format" = "date-time"))]
    pub started: String,
    /// The duration of the run, in milliseconds.
    pub ms: u64,
    /// The driver that was tested, from the fixture's `driver`.
    pub driver: DriverInfo,
    /// The version and the features that the driver named; absent if no check called `healthz`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthz: Option<Announcement>,
    /// Determines names and orders: runs with the same seed are the same.
    pub seed: u64,
    /// The profile: `core`, `async`, `dryrun`, `pod-deregister` or `all`.
    pub profile: String,
    /// True if the run used an observer.
    pub observer: bool,
    /// The features that the fixture declares.
    pub features: Vec<Feature>,
    /// Where the fixture came from: a file, or the URL below the driver's that served it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<String>,
    /// SHA-256 of the fixture, unless the run had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture_digest: Option<String>,
    /// The command line that repeats this run.
    pub reproduce: String,
    /// One result for each check, in the order of `lbcf conformance list`.
    pub results: Vec<CheckResult>,
    /// The numbers of checks.
    pub summary: Summary,
    /// The resources that could not be deleted, for people to remove.
    pub left_behind: Vec<String>,
    /// True if the run was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The reason, if the driver stopped responding during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// The checks that were skipped because the observer failed, each with the problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observer_failures: Vec<String>,
    /// Changes of the fixture or the flags that would run more checks.
    pub hints: Vec<String>,
}

/// The driver that was tested, from the fixture's `driver`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DriverInfo {
    /// The organization that maintains the driver.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organization: String,
    /// The name of the driver.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project: String,
    /// The version of the driver.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The project's home page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub homepage: String,
    /// URLs or mail addresses of the maintainers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<String>,
    /// The tested URL, without user and password.
    pub url: String,
}

/// The description of a driver in its response to `healthz`, as controllers read it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Announcement {
    /// The version of the specification that the driver follows, such as `1`; absent if it names none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub specification: String,
    /// The optional features of the wire that the driver has, such as `cancel` or `pages`.
    pub features: Vec<String>,
}

named! {
    /// The status of a check.
    Status (3),
    /// The word in reports.
    name;
    /// The driver follows the rule.
    Passed = "passed",
    /// The driver breaks the rule.
    Failed = "failed",
    /// The rule was not tested.
    Skipped = "skipped",
}

/// Why a check was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SkipKind {
    /// It does not apply to the driver: because of the declared features, or the profile.
    NotApplicable,
    /// It needs more in the fixture, or an observer.
    Missing,
    /// The user excluded it: `--only`, `--skip`.
    Asked,
    /// The run ended before it finished: time was up, or the driver stopped responding.
    BrokenOff,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// The id of the check, such as `ENS-02`.
    pub id: String,
    /// The level of the rule: MUST or SHOULD.
    pub level: Level,
    /// The group's id, such as `ENS`.
    pub group: String,
    /// The rule, in one sentence.
    pub rule: String,
    /// The outcome of the check: passed, failed or skipped.
    pub status: Status,
    /// Why it failed or was skipped, in one line; or remarks about a pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<SkipKind>,
    /// True if only responses were verified, without an observer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub response_only: bool,
    /// The reason in `knownFailures`, if the check is listed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The duration, in milliseconds.
    pub ms: u64,
    /// The behaviour of the driver instead; only for a failed check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureReport>,
    /// The exchanges of a failed check, or of any with `--verbose`.
    #[serde(default)]
    pub exchanges: Vec<ExchangeReport>,
}

/// Behaviour of a driver that a rule does not allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureReport {
    /// The expectation, such as `status Succ, because the backend is registered already`.
    pub expected: String,
    /// The observed behaviour, such as `status Fail`.
    pub got: String,
    /// The likely cause, and its fix.
    pub likely_cause: String,
    /// The last lines that the driver wrote meanwhile, if the kit started it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub driver_wrote: String,
    /// The request that shows it, as a curl command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
    /// The response to it, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeReport {
    /// Its number among the exchanges of the run, from 1.
    pub sequence: u64,
    /// The HTTP method, mostly `POST`.
    pub method: String,
    /// The URL, without user and password.
    pub url: String,
    /// The request's headers, without secrets.
    pub request_headers: BTreeMap<String, String>,
    /// The request's body as text, cut after 4 KiB.
    pub request_body: String,
    /// True if the request's body was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub request_cut: bool,
    /// The status code, if there was a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The headers of the response, by lower-case names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub response_headers: BTreeMap<String, String>,
    /// The response's body as text, cut after 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<String>,
    /// True if the response's body was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub response_cut: bool,
    /// Why there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<String>,
    /// The duration, in milliseconds.
    pub ms: u64,
}

/// The numbers of checks by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Checks that passed, unexpected passes included.
    pub passed: usize,
    /// Failed checks, known failures included.
    pub failed: usize,
    /// Checks that were not run, or not to their end.
    pub skipped: usize,
    /// Failed checks of the level MUST that are not known failures.
    pub failed_must: usize,
    /// Failed checks of the level SHOULD that are not known failures.
    pub failed_should: usize,
    /// Failures that the fixture or `--known-failures` names.
    pub known_failures: usize,
    /// Known failures that passed.
    pub unexpected_passes: usize,
    /// The result of the run.
    pub result: Outcome,
}

named! {
    /// The result of a run.
    Outcome (3),
    /// The word in reports.
    name;
    /// Every MUST that applies to the driver passed.
    Success = "success",
    /// None failed, but some were not tested.
    Partial = "partial",
    /// A result fails the run, such as a failed MUST that is not a known failure.
    Failure = "failure",
}
