//! Admission: what may be stored, and in which form (sections 9 to 13 of the behaviour list).
//!
//! The API server asks before it stores an object of ours. [`configurations`] tells it where and
//! about what; the router answers. Both come from one table.
//!
//! *Mutation* brings an object into the present edition's form. *Rules* are pure functions that
//! find all that is wrong with one object. Only an object that keeps them is asked about
//! elsewhere: the index and the API server know the load balancers and drivers that it names, and
//! the drivers say what they think of it, all at once and in the time that the API server waits.
//! Who cannot be asked says neither yes nor "not found": the request is denied with the reason.

mod admit;
mod ask;
mod configurations;
mod deadline;
mod http;
mod known;
mod mutate;
mod object;
mod refusal;
mod review;
mod rules;
mod server;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use configurations::{
    Configurations, Endpoint, MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION, configurations,
    configurations_yaml,
};

pub use server::{AdmissionError, AdmissionServer, Certificates};

use crate::context::Context;
use axum::Router;
use std::sync::Arc;

/// The admission webhooks of a controller. They have to be served over TLS, and only once the
/// index knows the cluster: before that, nobody would know who uses a driver.
pub(crate) fn router(context: &Arc<Context>) -> Router {
    http::routes(context)
}
