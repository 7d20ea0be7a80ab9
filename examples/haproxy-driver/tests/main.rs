//! The driver with the real HAProxy, the controller, and pods that answer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod drain;
mod haproxy;
mod rollout;
mod upkeep;
