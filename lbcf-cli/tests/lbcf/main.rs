//! The `lbcf` command as users and programs call it.

// Tests and their helpers state what they expect by unwrapping.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[cfg(unix)]
mod action;
mod command_line;
mod conformance;
mod controller;
mod convert;
mod demo;
#[cfg(unix)]
mod dev;
#[cfg(unix)]
mod endings;
#[cfg(unix)]
mod given_cluster;
mod haproxy;
mod install;
mod kubectl;
#[cfg(unix)]
mod languages;
#[cfg(unix)]
mod late_leader;
#[cfg(unix)]
mod manifests;
mod new;
mod plan;
mod process;
mod proxy;
#[cfg(unix)]
mod state_file;
#[cfg(target_os = "linux")]
mod strangers;
#[cfg(feature = "otlp")]
mod traces;
