//! Which results fail a run, and its exit code. All formats use this policy, so that they agree with the exit code.

use super::{CheckResult, Outcome, Report, SkipKind, Status, Summary};
use crate::classification::Level;

/// Failures of the run besides a failed MUST: `--fail-on`, which may name several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// Nothing more.
    #[default]
    Must,
    /// A failed SHOULD.
    Should,
}

/// Which results fail a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailurePolicy {
    /// True if a failed SHOULD fails the run: `--fail-on should`.
    pub should: bool,
    /// True if a MUST that could not be tested gives [`Exit::Partial`]: unless `--allow-partial`.
    pub partial: bool,
    /// True if a known failure that passed counts as a failure: `--strict-known`.
    pub strict_known: bool,
}

impl FailurePolicy {
    /// True if this result fails the run.
    ///
    /// A known failure does not, whatever its level is. For a MUST that was not tested or did not finish
    /// see [`Exit::of`](super::Exit::of).
    pub fn fails(&self, result: &CheckResult) -> bool {
        match result.status {
            Status::Passed => self.strict_known && result.is_unexpected_pass(),
            Status::Skipped => false,
            Status::Failed => {
                result.known.is_none() && (result.level == Level::Must || self.should)
            }
        }
    }
}

impl CheckResult {
    /// True if it failed and is listed as a known failure.
    pub fn is_known_failure(&self) -> bool {
        self.status == Status::Failed && self.known.is_some()
    }

    /// True if it passed although it is listed as a known failure.
    pub fn is_unexpected_pass(&self) -> bool {
        self.status == Status::Passed && self.known.is_some()
    }

    /// True if a MUST applies to the driver but could not be tested.
    pub fn is_untested(&self) -> bool {
        self.level == Level::Must
            && self.status == Status::Skipped
            && self.skip == Some(SkipKind::Missing)
    }

    /// True if the rule applies to the driver but was not tested.
    pub fn is_open(&self) -> bool {
        self.status == Status::Skipped && self.skip != Some(SkipKind::NotApplicable)
    }
}

impl Summary {
    /// Counts results.
    ///
    /// - `failure`: one of them fails the run.
    /// - `partial`: none does, but a MUST that applies to the driver was skipped or is a known
    ///   failure, or no check ran at all.
    /// - `success`: every MUST that applies to the driver passed.
    pub fn of<'r>(
        results: impl IntoIterator<Item = &'r CheckResult>,
        policy: FailurePolicy,
    ) -> Self {
        let results: Vec<&CheckResult> = results.into_iter().collect();
        let count =
            |which: &dyn Fn(&CheckResult) -> bool| results.iter().filter(|r| which(r)).count();
        let failed_of = |level: Level| {
            count(&|r| r.status == Status::Failed && r.known.is_none() && r.level == level)
        };
        let passed = count(&|r| r.status == Status::Passed);
        let failed = count(&|r| r.status == Status::Failed);
        let is_unclear =
            |r: &&CheckResult| r.level == Level::Must && (r.is_open() || r.is_known_failure());
        let result = if results.iter().any(|r| policy.fails(r)) {
            Outcome::Failure
        } else if passed + failed == 0 || results.iter().any(is_unclear) {
            Outcome::Partial
        } else {
            Outcome::Success
        };
        Self {
            passed,
            failed,
            skipped: count(&|r| r.status == Status::Skipped),
            failed_must: failed_of(Level::Must),
            failed_should: failed_of(Level::Should),
            known_failures: count(&CheckResult::is_known_failure),
            unexpected_passes: count(&CheckResult::is_unexpected_pass),
            result,
        }
    }
}

/// The exit codes of `lbcf conformance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// No result fails the run.
    Passed = 0,
    /// A check failed, or a MUST could not be finished.
    Failed = 1,
    /// Invalid arguments, an invalid fixture, or an observer that failed.
    Usage = 2,
    /// The driver cannot be reached.
    Unreachable = 3,
    /// The checks passed, but resources are left behind.
    LeftBehind = 4,
    /// No check failed, but a MUST could not be tested.
    Partial = 5,
    /// The run was interrupted.
    Interrupted = 130,
}

impl Exit {
    /// The value for the shell.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The exit code of a report.
    ///
    /// The first that applies: the run was interrupted; a result fails the run; the driver stopped
    /// responding; a MUST did not finish, because an incomplete run must not count as passed; the
    /// observer failed, because checks were skipped for it; resources are left behind; unless
    /// `--allow-partial`, a MUST could not be tested, or none ran at all.
    ///
    /// ```
    /// assert_eq!(lbcf_conformance::report::Exit::Unreachable.code(), 3);
    /// ```
    pub fn of(report: &Report, policy: FailurePolicy) -> Self {
        if report.interrupted {
            Self::Interrupted
        } else if report.results.iter().any(|result| policy.fails(result)) {
            Self::Failed
        } else if report.unreachable.is_some() {
            Self::Unreachable
        } else if report.results.iter().any(is_broken_off) {
            Self::Failed
        } else if !report.observer_failures.is_empty() {
            Self::Usage
        } else if !report.left_behind.is_empty() {
            Self::LeftBehind
        } else if policy.partial && report.is_partial() {
            Self::Partial
        } else {
            Self::Passed
        }
    }
}

impl Report {
    /// True if a MUST could not be tested, or no check ran at all. What the user excluded does not count.
    pub(crate) fn is_partial(&self) -> bool {
        let ran = self.summary.passed + self.summary.failed;
        ran == 0 || self.results.iter().any(CheckResult::is_untested)
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

fn is_broken_off(result: &CheckResult) -> bool {
    result.level == Level::Must && result.skip == Some(SkipKind::BrokenOff)
}

#[cfg(test)]
mod tests;
