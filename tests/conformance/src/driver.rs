//! The driver that is judged: one that runs elsewhere, one in this process, or one that the kit
//! starts and stops by itself (`--exec`).

mod exec;

pub use exec::{Exec, ExecError};

/// The driver that is judged.
#[derive(Debug)]
pub(crate) enum Driver {
    /// Somebody else started it.
    Elsewhere,
    /// The kit started it.
    Ours(Box<Exec>),
}

impl Driver {
    /// Whether the kit started it, and so can start it anew.
    pub(crate) const fn is_ours(&self) -> bool {
        matches!(self, Self::Ours(_))
    }

    /// Whether it is a process of ours that has ended.
    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Elsewhere => false,
            Self::Ours(exec) => exec.has_ended(),
        }
    }

    /// How the process ended, if it is one of ours that did.
    pub(crate) fn how_it_ended(&self) -> Option<String> {
        match self {
            Self::Ours(exec) if exec.has_ended() => Some(exec.state()),
            _ => None,
        }
    }

    /// What became of the process and the last that it wrote, if the kit started it.
    pub(crate) async fn last_words(&self) -> Option<String> {
        match self {
            Self::Elsewhere => None,
            Self::Ours(exec) => Some(exec.last_words().await),
        }
    }
}
