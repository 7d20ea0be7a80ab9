//! Which results fail a run, and what they all come to. Every format asks here, so that a check is
//! nowhere red where the exit code is green.

use super::{CheckResult, Outcome, SkipKind, Status, Summary};
use crate::check::Level;

/// Which failures fail the run: `--fail-on`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// Those of the level MUST.
    #[default]
    Must,
    /// Those of the level SHOULD too.
    Should,
}

/// By what results are judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judging {
    /// Which failures count.
    pub fail_on: FailOn,
    /// Whether a known failure that passed counts as a failure: `--strict-known`.
    pub strict_known: bool,
}

impl Judging {
    /// Whether this result fails the run.
    ///
    /// A known failure does not, whatever its level is. A MUST that was broken off does not by
    /// itself: see [`Exit::of`](super::Exit::of).
    #[must_use]
    pub fn fails(&self, result: &CheckResult) -> bool {
        match result.status {
            Status::Passed => self.strict_known && result.is_unexpected_pass(),
            Status::Skipped => false,
            Status::Failed => {
                result.known.is_none()
                    && (result.level == Level::Must || self.fail_on == FailOn::Should)
            }
        }
    }
}

impl CheckResult {
    /// Whether it failed, and was known to.
    #[must_use]
    pub fn is_known_failure(&self) -> bool {
        self.status == Status::Failed && self.known.is_some()
    }

    /// Whether it passed although it is listed as a known failure.
    #[must_use]
    pub fn is_unexpected_pass(&self) -> bool {
        self.status == Status::Passed && self.known.is_some()
    }

    /// Whether nobody can say if the driver keeps this rule, though it concerns the driver.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.status == Status::Skipped && self.skip != Some(SkipKind::NotApplicable)
    }
}

impl Summary {
    /// Counts results and says what they come to.
    ///
    /// - `failure`: one of them fails the run.
    /// - `partial`: none does, but a MUST that concerns the driver was not shown to be kept: it was
    ///   skipped, or it is a known failure. So is a run in which nothing was found out at all.
    /// - `success`: every MUST that concerns the driver passed.
    #[must_use]
    pub fn of(results: &[CheckResult], judging: Judging) -> Self {
        Self::over(&results.iter().collect::<Vec<_>>(), judging)
    }

    /// The same for some of a report's results.
    pub(crate) fn over(results: &[&CheckResult], judging: Judging) -> Self {
        let count =
            |which: &dyn Fn(&CheckResult) -> bool| results.iter().filter(|r| which(r)).count();
        let failed_of = |level: Level| {
            count(&|r| r.status == Status::Failed && r.known.is_none() && r.level == level)
        };
        let passed = count(&|r| r.status == Status::Passed);
        let failed = count(&|r| r.status == Status::Failed);
        let is_unclear =
            |r: &&CheckResult| r.level == Level::Must && (r.is_open() || r.is_known_failure());
        let result = if results.iter().any(|r| judging.fails(r)) {
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

#[cfg(test)]
mod tests;
