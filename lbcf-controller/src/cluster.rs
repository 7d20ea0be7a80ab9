//! All I/O with the API server: watches, writes and events.

mod events;
mod watched;
mod watches;
mod write_locks;
mod writes;

pub(crate) use events::{EventType, EventWriter, Recorder, Regarding};
pub(crate) use watched::FromWatched;
pub(crate) use watches::{WATCHED_KINDS, watch};
pub(crate) use write_locks::WriteLocks;
pub(crate) use writes::{GateCondition, WriteError, Writer};
