//! The mock from outside: over its router, and as a server that goes away and comes back.
#![allow(
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping, in their helpers too"
)]

mod backends;
mod bad_input;
mod by_hand;
mod calls;
mod concurrency;
mod conformance;
mod defects;
mod inspection;
mod life;
mod load_balancers;
mod outage;
mod restart;
mod server;
mod support;
