//! Assertions for a driver's own tests.

use super::{Format, Show, render};
use crate::report::{FailurePolicy, Report};

impl Report {
    /// Panics unless the driver passed, with the report for people as message.
    ///
    /// # Panics
    /// When a failure fails the run, or the driver stopped responding.
    #[track_caller]
    pub fn assert_passed(&self) {
        let policy = FailurePolicy::default();
        let fails = self.results.iter().any(|result| policy.fails(result));
        let text = render(self, Format::Human, &Show::default()).unwrap_or_default();
        assert!(!fails && self.unreachable.is_none(), "{text}");
    }
}
