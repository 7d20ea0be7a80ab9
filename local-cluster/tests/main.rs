//! The cluster as its clients see it: one binary with a module for each kind of client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what they expect by unwrapping, helpers included"
)]

mod admission;
mod bad_input;
mod controllers;
mod differential;
mod discovery;
mod documents;
mod durability;
mod endpoint_slices;
mod faults;
mod field_managers;
mod fixture;
mod foreign_clients;
mod http;
mod kube_client;
mod kube_runtime;
mod kubectl;
mod lists;
mod pod_traffic;
mod recorded;
mod scale;
mod schemas;
mod serving;
mod subresources;
#[path = "../src/tests.rs"]
mod tables;
mod watch;
mod webhook;
mod wire;
mod workloads;
mod writes;
