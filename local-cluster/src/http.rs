//! The API over HTTP: what a request means, and the form of its answer.

mod accept;
mod answer;
mod body;
mod columns;
mod containers;
mod continuation;
mod discovery;
#[cfg(any(test, feature = "fuzzing"))]
#[allow(
    unreachable_pub,
    reason = "the feature makes it reachable, the tests do not"
)]
pub mod fuzzing;
mod guarded;
mod health;
mod list_options;
mod log;
mod openapi;
mod patched;
mod path;
mod pods;
mod protobuf;
mod query;
mod read;
mod reviews;
mod route;
mod scale;
mod subresource;
mod table;
mod tagged;
mod watch;
mod write;

pub(crate) use crate::faults::Cut;
pub(crate) use body::BodyBudget;
pub(crate) use guarded::with_guard;
pub(crate) use route::{Stop, router, unauthorized};
