//! Whole-system tests: the controller on the local cluster, driving the mock driver.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod admission;
mod bind;
mod cost;
mod dry_run;
mod examples;
mod faults;
mod interrupted;
mod judge;
mod leader;
mod life;
mod lost_answers;
mod metrics;
mod one_call;
mod order;
mod periodic;
mod permissions;
mod scale;
mod services;
mod shared;
mod side_by_side;
mod start;
mod takeover;
mod whole_life;
