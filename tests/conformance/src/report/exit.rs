//! What the command tells its caller by its exit code.

use super::{CheckResult, Judging, Report, SkipKind};
use crate::check::Level;

/// How a run ended, beside its results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    /// The driver could not be reached, or not any more.
    pub unreachable: bool,
    /// Somebody stopped the run, by Ctrl-C for instance.
    pub interrupted: bool,
}

impl Ending {
    /// How the run of a report ended.
    #[must_use]
    pub const fn of(report: &Report) -> Self {
        Self {
            unreachable: report.unreachable.is_some(),
            interrupted: report.interrupted,
        }
    }
}

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing that counts failed.
    Passed,
    /// A check failed, or a MUST could not be finished.
    Failed,
    /// Wrong arguments or a wrong fixture. No report comes to this.
    Usage,
    /// The driver could not be reached.
    Unreachable,
    /// The checks passed, but something of theirs is left.
    LeftBehind,
    /// Somebody stopped the run.
    Interrupted,
}

impl Exit {
    /// The number.
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

    /// What a report comes to.
    ///
    /// The first that holds: the run was interrupted; a check failed; the driver is not there; a
    /// MUST was broken off, since a run that did not get through must not be taken for a good one;
    /// something is left behind.
    ///
    /// ```
    /// use lbcf_conformance::report::{Ending, Exit};
    ///
    /// assert_eq!(Exit::Unreachable.code(), 3);
    /// assert_eq!(Ending::default().interrupted, false);
    /// ```
    #[must_use]
    pub fn of(report: &Report, judging: Judging, ending: Ending) -> Self {
        if ending.interrupted {
            Self::Interrupted
        } else if report.results.iter().any(|result| judging.fails(result)) {
            Self::Failed
        } else if ending.unreachable {
            Self::Unreachable
        } else if report.results.iter().any(is_broken_off) {
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
