//! The base of reconciling any kind: the queue of requests, the context that reconcilers share, the state
//! that it keeps in memory, and calls of operations.

mod context;
pub(crate) mod driver_protection;
mod first_answers;
pub(crate) mod memory;
pub(crate) mod operation;
mod outcome;
pub(crate) mod pod_pages;
pub(crate) mod queue;
mod reason;
pub(crate) mod verdicts;

pub(crate) use context::Context;
pub(crate) use operation::Reporter;
pub(crate) use outcome::{Action, Error, OperationFailure};
