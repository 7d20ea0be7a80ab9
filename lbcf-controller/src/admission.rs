//! Admission webhooks: validation and mutation of LBCF's objects.
//!
//! The API server calls them before it stores an object. [`configurations`] and the router are both
//! derived from one table.
//!
//! *Mutation* rewrites fields of older manifests to the current ones. *Rules* are pure functions that
//! find all errors of one object. Only for an object without errors are the load balancers and drivers
//! it refers to looked up, in the index and at the API server, and the drivers' validate webhooks
//! called, all concurrently and within the API server's timeout. Where a lookup or call fails, the
//! request is denied with the reason: it counts neither as valid nor as "not found".

mod admit;
mod cluster_reader;
mod configurations;
mod denial;
mod mutate;
mod object;
mod review;
mod rules;
mod server;
mod slots;
mod table;
#[cfg(test)]
mod tests;
mod validation_context;

pub use configurations::{
    Configurations, Endpoint, MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION, configurations,
    configurations_yaml,
};

pub use server::{AdmissionError, AdmissionServer, Certificates};
