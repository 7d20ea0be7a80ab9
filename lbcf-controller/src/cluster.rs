//! All I/O with the API server: watches, writes and events.

mod events;
mod status_locks;
mod watches;
mod writes;

pub(crate) use events::{EventType, EventWriter, Recorder, Regarding};
pub(crate) use status_locks::StatusLocks;
pub(crate) use watches::{WATCHED_KINDS, watch};
pub(crate) use writes::{WriteError, Writer};
