//! The exit code of a run.

use super::{CheckResult, FailurePolicy, Outcome, Report, SkipKind};
use crate::classification::Level;

/// The exit codes of `lbcf conformance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// No result fails the run.
    Passed,
    /// A check failed, or a MUST could not be finished.
    Failed,
    /// Invalid arguments, an invalid fixture, or an observer that failed.
    Usage,
    /// The driver cannot be reached.
    Unreachable,
    /// The checks passed, but resources are left behind.
    LeftBehind,
    /// The run was interrupted.
    Interrupted,
}

impl Exit {
    /// The value for the shell.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::LeftBehind => 4,
            Self::Interrupted => 130,
        }
    }

    /// The exit code of a report.
    ///
    /// The first that applies: the run was interrupted; a result fails the run; the driver stopped
    /// responding; a MUST did not finish, because an incomplete run must not count as passed; the
    /// observer failed, because checks were skipped for it; with `--fail-on partial`, the result is
    /// *partial*; resources are left behind.
    ///
    /// ```
    /// assert_eq!(lbcf_conformance::report::Exit::Unreachable.code(), 3);
    /// ```
    #[must_use]
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
        } else if policy.partial && report.summary.result == Outcome::Partial {
            Self::Failed
        } else if !report.left_behind.is_empty() {
            Self::LeftBehind
        } else {
            Self::Passed
        }
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
