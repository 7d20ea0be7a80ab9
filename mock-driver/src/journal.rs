//! The webhook calls and their outcomes: counters for tests that limit the number of calls, and the
//! last calls one by one for users.
//!
//! The log belongs to the cloud and not to the server, so it outlives restarts of the driver.

mod entry;
mod log;
#[cfg(test)]
mod tests;

pub use entry::JournalEntry;
pub(crate) use entry::{CallQuery, RecordedText};
pub use log::WebhookCalls;
pub(crate) use log::{CallFollower, CallLog};
