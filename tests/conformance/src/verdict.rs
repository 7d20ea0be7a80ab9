//! What a check comes to.

use crate::exchange::Exchange;
use std::sync::Arc;

/// What a check comes to: nothing when the rule is kept.
pub type Verdict = Result<(), NotPassed>;

/// Why a check did not pass.
#[derive(Debug, Clone)]
pub enum NotPassed {
    /// The driver broke the rule.
    Failed(Box<Failure>),
    /// What the rule is about could not even be set up. It is another check's failure, if that one
    /// failed, too, and this one's otherwise.
    Blocked {
        /// The id of the check that is about what could not be set up.
        by: &'static str,
        /// How it could not.
        failure: Box<Failure>,
    },
    /// It could not be found out, for this reason.
    Skipped(String),
}

impl NotPassed {
    /// The same as a failure to set something up that the check with this id is about.
    #[must_use]
    pub fn blocked_by(self, by: &'static str) -> Self {
        match self {
            Self::Failed(failure) => Self::Blocked { by, failure },
            other => other,
        }
    }

    /// The same with a word about what is likely behind it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Failed(failure) | Self::Blocked { failure, .. } = &mut self {
            failure.hint = Some(hint.into());
        }
        self
    }
}

/// How a driver broke a rule.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What was expected, such as `status Succ, since the backend is registered already`.
    pub expected: String,
    /// What came instead.
    pub got: String,
    /// What is likely behind it, where more is known than the check's `typical`.
    pub hint: Option<String>,
    /// The exchange that shows it, if one does.
    pub exchange: Option<Arc<Exchange>>,
}

impl Failure {
    /// A failure that no single exchange shows.
    pub fn new(expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            got: got.into(),
            hint: None,
            exchange: None,
        }
    }
}

impl From<Failure> for NotPassed {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}
