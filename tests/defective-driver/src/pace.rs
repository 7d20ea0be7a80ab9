//! How long the defects take that are about time.

use std::time::Duration;

/// How long the defects take that are about time. The defaults are what the conformance checks
/// detect; tests of the defects themselves may use less.
///
/// ```
/// use lbcf_defective_driver::{Defect, DefectPace, Defects};
/// use std::time::Duration;
///
/// let defects = Defects::new([Defect::SlowValidate]).pace(DefectPace {
///     slow: Duration::from_millis(50),
///     ..DefectPace::default()
/// });
/// # let _ = defects;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefectPace {
    /// Too slow for users, but not for the controller; 2.5 s by default.
    pub slow: Duration,
    /// Longer than the controller waits; 11 s by default.
    pub too_slow: Duration,
    /// The time between the two steps of work that fails when requests are concurrent or the caller
    /// disconnects; 100 ms by default.
    pub hold: Duration,
    /// How soon after a reply the next poll of the same operation is too early; 20 ms by default.
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
