//! The `lbcf` command as people and programs call it.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod command_line;
mod conformance;
mod controller;
mod demo;
mod kubectl;
mod new;
mod process;
