//! How long slow defects take.

use std::time::Duration;

/// How long defects take that have to do with time. The defaults are what the conformance checks
/// look for; tests of the mock itself take less.
///
/// ```
/// use mock_driver::{Defect, DefectPace, MockOptions};
/// use std::time::Duration;
///
/// let options = MockOptions {
///     defects: vec![Defect::SlowValidate],
///     defect_pace: DefectPace {
///         slow: Duration::from_millis(50),
///         ..DefectPace::default()
///     },
///     ..MockOptions::default()
/// };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefectPace {
    /// What is too slow for people, but not for the controller; 2.5 s by default.
    pub slow: Duration,
    /// What is longer than the controller waits; 11 s by default.
    pub too_slow: Duration,
    /// How long work that goes wrong side by side, or by a hang-up, takes between its first step
    /// and its second; 100 ms by default.
    pub hold: Duration,
    /// How soon after an answer the next call of the same operation is too early; 20 ms by
    /// default.
    pub early: Duration,
}

impl Default for DefectPace {
    fn default() -> Self {
        Self {
            slow: Duration::from_millis(2500),
            too_slow: Duration::from_secs(11),
            hold: Duration::from_millis(100),
            early: Duration::from_millis(20),
        }
    }
}
