//! The Kubernetes API over HTTP: parsing of requests and rendering of responses.

mod accept;
mod body;
mod call;
mod continuation;
mod delete;
mod discovery;
#[cfg(any(test, feature = "fuzzing"))]
#[allow(
    unreachable_pub,
    reason = "the feature makes it reachable, the tests do not"
)]
pub mod fuzzing;
mod health;
mod list_options;
mod log;
mod openapi;
mod path;
mod printers;
mod protobuf;
mod query;
mod read;
mod response;
mod reviews;
mod route;
mod scale;
mod subresource;
mod table;
mod watch;
mod write;

pub(crate) use crate::faults::Disconnect;
pub(crate) use route::{forbidden, router, unauthorized};
pub(crate) use watch::Stop;
