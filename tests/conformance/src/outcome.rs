//! The outcome of a check.

use crate::exchange::Exchange;
use crate::report::SkipKind;
use std::sync::Arc;

/// `Ok` when the driver follows the rule, or a step of a check succeeded.
pub type CheckOutcome<T = ()> = Result<T, CheckError>;

/// The reason why a check did not pass.
#[derive(Debug, Clone)]
pub enum CheckError {
    /// The driver broke the rule.
    Failed(Box<Failure>),
    /// The setup failed. The check is skipped if the check for that part of the setup failed, too,
    /// and fails otherwise.
    Blocked {
        /// The id of the check for the part that could not be set up.
        by: &'static str,
        /// The failure of the setup.
        failure: Box<Failure>,
        /// True if the step comes before the call that the check is about.
        is_setup: bool,
    },
    /// The check could not run, for this reason.
    Skipped(String),
    /// The run left the check out, or ended before the check.
    NotRun(SkipKind, String),
}

impl CheckError {
    /// The check has nothing to test with this driver, for this reason.
    pub(crate) fn not_applicable(reason: &str) -> Self {
        Self::NotRun(SkipKind::NotApplicable, reason.to_owned())
    }

    /// Converts a failure into a failed setup, which the check with the id `by` covers.
    #[must_use]
    pub fn blocked_by(self, by: &'static str) -> Self {
        self.blocked(by, true)
    }

    /// The same for a call that this check is about, and that `by` covers, too.
    #[must_use]
    pub fn covered_by(self, by: &'static str) -> Self {
        self.blocked(by, false)
    }

    fn blocked(self, by: &'static str, is_setup: bool) -> Self {
        match self {
            Self::Failed(failure) => Self::Blocked {
                by,
                failure,
                is_setup,
            },
            other => other,
        }
    }

    /// Makes a failed setup a failure of this check.
    #[must_use]
    pub fn of_this_check(self) -> Self {
        match self {
            Self::Blocked { failure, .. } => Self::Failed(failure),
            other => other,
        }
    }

    /// Adds the likely cause.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Failed(failure) | Self::Blocked { failure, .. } = &mut self {
            failure.hint = Some(hint.into());
        }
        self
    }
}

/// Behaviour of a driver that a rule does not allow.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The expectation, such as `status Succ, because the backend is registered already`.
    pub expected: String,
    /// The observed behaviour, such as `status Fail`.
    pub got: String,
    /// The likely cause, where it is more specific than the check's `typical`.
    pub hint: Option<String>,
    /// The exchange that shows the failure, if a single one does.
    pub exchange: Option<Arc<Exchange>>,
}

impl Failure {
    /// A failure without a single exchange that shows it.
    pub fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            got: got.into(),
            hint: None,
            exchange: None,
        }
    }

    /// Fails with the texts for what is expected and what was observed, unless `holds`.
    ///
    /// # Errors
    /// [`CheckError::Failed`]
    pub(crate) fn unless(
        holds: bool,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> CheckOutcome {
        if holds {
            Ok(())
        } else {
            Err(Self::new(expected, got).into())
        }
    }
}

/// Which check a failed step of the setup belongs to.
pub(crate) trait Blame {
    /// [`CheckError::blocked_by`], if this failed.
    fn blocked_by(self, id: &'static str) -> Self;
}

impl<T> Blame for CheckOutcome<T> {
    fn blocked_by(self, id: &'static str) -> Self {
        self.map_err(|error| error.blocked_by(id))
    }
}

impl From<Failure> for CheckError {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}
