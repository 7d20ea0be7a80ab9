//! A report as the end of a driver's own test.

use super::{Format, Show, render};
use crate::report::{Judging, Report};

impl Report {
    /// Panics unless the driver passed, with the whole report for people: for drivers' own tests.
    ///
    /// # Panics
    /// When a check failed that counts.
    #[track_caller]
    pub fn assert_passed(&self) {
        let judging = Judging::default();
        let fails = self.results.iter().any(|result| judging.fails(result));
        let text = render(self, Format::Human, &Show::default()).unwrap_or_default();
        assert!(!fails && self.unreachable.is_none(), "{text}");
    }
}
