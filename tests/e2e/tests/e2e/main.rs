//! Whole-system tests: the controller on the local cluster, driving the mock driver.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod admission;
mod cost;
mod dry_run;
mod examples;
mod faults;
mod interrupted;
mod leader;
mod life;
mod metrics;
mod one_call;
mod order;
mod permissions;
mod start;
mod takeover;
mod whole_life;
