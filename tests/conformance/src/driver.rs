//! The driver under test: one that runs elsewhere, one in this process, or one that the kit starts
//! and stops (`--exec`).

mod exec;
mod process_group;
pub(crate) mod ready;

pub use exec::{Exec, ExecError};

/// The process of the driver, if the kit started it, and so can restart it.
#[derive(Debug)]
pub(crate) struct Driver(pub(crate) Option<Box<Exec>>);

impl Driver {
    /// The process, if it has exited.
    pub(crate) fn ended(&self) -> Option<&Exec> {
        self.0.as_deref().filter(|exec| exec.has_ended())
    }

    /// The state and the last output of the process.
    pub(crate) async fn last_output(&self) -> Option<String> {
        Some(self.0.as_ref()?.last_output().await)
    }
}
