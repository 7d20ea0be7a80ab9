//! All I/O with the API server: watches, writes and events.

pub(crate) mod client;
mod events;
mod wait;
mod watched;
mod watches;
mod writes;

pub(crate) use events::{EventType, EventWriter, Recorder, Regarding};
pub(crate) use wait::{Wait, WaitEvent, paused, ready, some, stored_since};
pub(crate) use watched::FromWatched;
pub(crate) use watches::{WATCHED_KINDS, watch};
pub(crate) use writes::{GateCondition, RawList, WriteError, Writer};
