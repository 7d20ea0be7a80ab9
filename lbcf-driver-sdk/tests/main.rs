//! The SDK from outside: a driver behind its router, called over sockets and without.
// Helpers of tests unwrap too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod any_body;
mod bad_input;
mod batches;
mod captured_log;
mod certificates;
mod client;
mod disconnect;
#[cfg(feature = "openapi")]
mod documents;
mod dry_run;
mod exactly_once;
#[cfg(feature = "cli")]
mod examples;
mod jobs;
mod joining;
mod limits;
mod logging;
mod metrics;
mod near_misses;
mod openapi;
mod outcomes;
mod panics;
mod process;
mod round_trip;
mod running;
mod serial;
mod server;
mod serving;
mod shutdown;
mod support;
#[cfg(feature = "testing")]
mod testing;
mod tls;
mod typed;
mod wire_agreement;
