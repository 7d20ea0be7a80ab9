//! Integration tests of the mock: over its router, and as a server that stops and starts.
#![allow(
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping, in their helpers too"
)]

mod backends;
mod batches;
mod by_hand;
mod differences;
mod faults;
mod fixture;
mod inspection;
mod journal;
mod load_balancers;
mod metrics;
mod outage;
mod page;
mod restart;
mod server;
mod support;
mod traffic;
