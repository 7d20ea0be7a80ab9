//! The mock from outside: over its router, and as a server that goes away and comes back.
#![allow(
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping, in their helpers too"
)]

mod backends;
mod bad_input;
mod calls;
mod concurrency;
mod inspection;
mod life;
mod load_balancers;
mod server;
mod support;
