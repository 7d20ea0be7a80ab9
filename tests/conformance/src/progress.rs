//! What people see while a run goes on, on standard error: standard output is the report's.
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
use std::sync::Arc;

/// Somebody who is told how a run goes on. Checks run side by side, so several may be under way.
pub trait Progress: Debug + Send + Sync {
    /// A check begins.
    fn started(&self, check: &str);
    /// A check is done, or is skipped; those that are skipped need not have been started.
    fn finished(&self, result: &CheckResult);
    /// Something that people should know now, such as what is cleaned up.
    fn note(&self, text: &str);
    /// Nothing more will come.
    fn ended(&self);
}

/// The same for all who share it.
impl<P: Progress + ?Sized> Progress for Arc<P> {
    fn started(&self, check: &str) {
        (**self).started(check);
    }

    fn finished(&self, result: &CheckResult) {
        (**self).finished(result);
    }

    fn note(&self, text: &str) {
        (**self).note(text);
    }

    fn ended(&self) {
        (**self).ended();
    }
}

/// Nobody: for tests, and programs that read the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn started(&self, _check: &str) {}
    fn finished(&self, _result: &CheckResult) {}
    fn note(&self, _text: &str) {}
    fn ended(&self) {}
}
