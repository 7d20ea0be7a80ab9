//! The room of the cluster: watches, writes and events go through here.

mod events;
mod watches;
mod writes;

pub(crate) use events::{EventSink, EventType, Events};
pub(crate) use watches::{Observed, Watches};
pub(crate) use writes::{WriteError, Writer};
