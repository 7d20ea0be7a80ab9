//! Infrastructure that reconcilers of all kinds share: the queue of requests, the context, the state
//! that is kept in memory, and calls of operations.

pub(crate) mod absences;
pub(crate) mod call_delays;
mod context;
pub(crate) mod driver_protection;
pub(crate) mod operation;
pub(crate) mod orphans;
mod outcome;
pub(crate) mod periodic;
pub(crate) mod queue;
pub(crate) mod retry_times;
pub(crate) mod verdicts;
pub(crate) mod waits;

pub(crate) use context::Context;
pub(crate) use outcome::{Action, Error, OperationFailure};
