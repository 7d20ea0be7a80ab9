//! The progress of a run, on standard error: the report is on standard output.
//!
//! ```
//! use lbcf_conformance::progress::{Progress, Silent};
//!
//! let progress: Box<dyn Progress> = Box::new(Silent);
//! progress.started("ENS-02");
//! ```

mod screen;
mod state;

pub use screen::Screen;

use crate::report::CheckResult;
use std::fmt::Debug;

/// An observer of a run. Several checks may be running at a time.
pub trait Progress: Debug + Send + Sync {
    /// Called when a check starts, with its id.
    fn started(&self, _check: &str) {}
    /// A check ends. A skipped check need not have been started.
    fn finished(&self, _result: &CheckResult) {}
    /// A message for the user, such as that the run is being interrupted.
    fn note(&self, _text: &str) {}
    /// The run is over.
    fn ended(&self) {}
}

/// No progress: for tests, and programs that read the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
