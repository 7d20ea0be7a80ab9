//! The cluster as its clients see it: one binary, a module for each kind of client.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what they expect by unwrapping, helpers included"
)]

mod admission;
mod agents;
mod discovery;
mod documents;
mod durability;
mod endpoint_slices;
mod field_managers;
mod fixture;
mod http;
mod kube_client;
mod kubectl;
mod lists;
mod recorded;
mod scale;
mod schemas;
mod subresources;
mod watch;
mod webhook;
mod workloads;
mod writes;
