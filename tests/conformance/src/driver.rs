//! The driver under test: one that runs elsewhere, one in this process, or one that the kit starts
//! and stops (`--exec`).

mod exec;
mod process_group;
pub(crate) mod ready;

pub use exec::{Exec, ExecError};

#[derive(Debug)]
pub(crate) enum Driver {
    /// Not started by the kit.
    Elsewhere,
    /// Started by the kit.
    Ours(Box<Exec>),
}

impl Driver {
    /// True if the kit started the driver, and so can restart it.
    pub(crate) const fn is_ours(&self) -> bool {
        matches!(self, Self::Ours(_))
    }

    /// True if the kit started the driver and its process has exited.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Self::Ours(exec) if exec.has_ended())
    }

    pub(crate) fn exit_state(&self) -> Option<String> {
        match self {
            Self::Ours(exec) if exec.has_ended() => Some(exec.state()),
            _ => None,
        }
    }

    /// The state and the last output of a process that the kit started.
    pub(crate) async fn last_output(&self) -> Option<String> {
        match self {
            Self::Elsewhere => None,
            Self::Ours(exec) => Some(exec.last_output().await),
        }
    }
}
