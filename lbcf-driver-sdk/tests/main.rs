//! The SDK from outside: a driver behind its router, called over sockets and without.
// Helpers of tests say what they expect by unwrapping, too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_input;
mod client;
mod disconnect;
mod joining;
mod logging;
mod openapi;
mod panics;
mod serial;
mod server;
mod support;
